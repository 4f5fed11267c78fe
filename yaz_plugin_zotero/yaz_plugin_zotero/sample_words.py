"""Words and names for the made-up items of the sample library."""

from __future__ import annotations


def _cut(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WORDS = _cut("""
    analysis model theory network learning deep neural system method approach evidence policy climate change energy
    water soil carbon urban rural health care clinical trial patients cancer therapy disease virus immune response
    gene protein cell membrane structure function dynamics quantum field particle matter galaxy spectral optical
    surface film material polymer graphene electron magnetic thermal fluid flow turbulent boundary numerical
    simulation optimization stochastic bayesian inference regression sampling estimation causal treatment effect
    market price labor wage inequality trade growth fiscal monetary risk education school teacher student reading
    language grammar syntax semantics discourse translation corpus history war empire memory identity religion ritual
    art music film novel poetry philosophy ethics law court justice crime migration democracy election party media
    social digital privacy security encryption protocol distributed database query graph algorithm complexity logic
    proof program compiler verification testing software human interaction design vision image segmentation detection
    recognition speech robot control adaptive planning game agent attention transformer evaluation benchmark survey
    review longitudinal cohort mixed qualitative comparative regional spatial temporal seasonal early modern medieval
    arctic ocean river forest species biodiversity conservation evolution genetic variation selection behavior
    cognition perception emotion stress sleep aging child maternal nutrition diet exercise depression brain cortex
    imaging screening vaccine antibody resistance bacteria outbreak transmission exposure pollution sensor catalyst
    oxidation synthesis crystal liquid entropy geometry topology algebra manifold operator equation convergence
    stability chaos wave scattering seismic volcanic isotope glacier drought flood storm precipitation emission
    mitigation sustainable solar wind battery hydrogen nuclear waste recycling logistics transport vehicle traffic
    mobility housing governance institution reform capacity trust norm
""")

SURNAMES = _cut("""
    Smith Johnson Williams Brown Jones García Miller Davis Rodríguez Martínez Anderson Thomas Taylor Moore Jackson
    Martin Lee Pérez Thompson White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Nguyen Hill Green
    Adams Baker Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schröder Krüger Köhler
    Dubois Lefèvre Moreau François Rossi Russo Ferrari Esposito Silva Santos Oliveira Kowalski Nowak Wiśniewski
    Łukasik Novák Dvořák Černý Ivanov Petrov Смирнов Yılmaz Şahin Øvergård Åström Sørensen Nielsen Lindqvist Virtanen
    Kim Park Wang Li Zhang 王 田中 Khan Patel Sharma Okafor O’Brien D'Angelo Ben-David Al-Farsi
""")

GIVEN = _cut("""
    James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth Wei Jing Hiroshi Yuki Anna Maria José Luis
    Sofia Lukas Eva Ingrid Søren Åsa Pierre Jean-Luc Élodie Giulia Olga Fatima Priya Chinwe Zoë Ørjan
""")
