"""What a good tool and a good resource look like, judged on a plain surface (G1 to G98, design 4 and 9)."""
