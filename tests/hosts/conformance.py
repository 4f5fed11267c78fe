"""A third host: the tools, resources and prompts that the official conformance suite asks a server for.

    python -m tests.hosts.conformance --port 7901 --token sesame

serves it on 127.0.0.1 until it is killed; every request needs the token. `npx @modelcontextprotocol/conformance server`
then judges yazcore's own server, gate and runtime: nothing here knows MCP.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hmac
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio

from yazcore import (
    GLOBAL,
    OWNER,
    Ask,
    Audio,
    Contract,
    Embedded,
    Form,
    Home,
    Host,
    Image,
    Message,
    Own,
    Principal,
    Prompt,
    Resource,
    Result,
    Roots,
    Sample,
    Tool,
    ToolError,
    hookimpl,
)
from yazcore.mcp.listener import Listener

HERE = Path(__file__).parent

CONTRACT = Contract(
    number=1, group="conformance.manifest", prefix="conformance-plugin-", host="conformance", version="1.0",
    schemes=("test",), scope_kinds=(GLOBAL,),
)  # fmt: skip

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""

SILENCE = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
"""A WAV of one sample."""

Arguments = Mapping[str, Any]
STEP_SECONDS = 0.05


def asks(name: str, schema: Mapping[str, Any], required: tuple[str, ...] = ()) -> Form:
    """A form with these fields."""
    return Form(name, {"type": "object", "properties": schema, "required": list(required)})


NAME = asks("What is your name?", {"name": {"type": "string"}}, ("name",))
OK = asks("Please confirm", {"ok": {"type": "boolean"}}, ("ok",))
CAPITAL = Sample("What is the capital of France?", 100)
DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {
        "type": "string", "oneOf": [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)],
    },
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {
        "type": "array", "items": {"anyOf": [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]},
    },
}  # fmt: skip


class Fixture:
    """The host's own plugin."""

    def __init__(self, switch: Callable[[], None]) -> None:
        self._switch = switch

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [Tool(name, getattr(self, name)) for name in dir(self) if name.startswith(("test_", "json_"))]

    @hookimpl
    def provide_resources(self) -> list[Resource]:
        return [
            Resource("test://static-text", lambda context, values: "This is the content of the static text resource."),
            Resource("test://static-binary", lambda context, values: PIXEL),
            Resource("test://watched-resource", lambda context, values: "Watched"),
            Resource("test://template/{id}/data", lambda context, values: {
                "id": values["id"], "templateTest": True, "data": f"Data for ID: {values['id']}",
            }),
        ]  # fmt: skip

    @hookimpl
    def provide_prompts(self) -> list[Prompt]:
        return [
            Prompt("test_simple_prompt", lambda context, arguments: "This is a simple prompt for testing."),
            Prompt("test_prompt_with_arguments", self.with_arguments, lambda context, name, prefix: ["paris", "park"]),
            Prompt("test_prompt_with_embedded_resource", self.with_resource),
            Prompt("test_prompt_with_image", lambda context, arguments: [
                Message(Image(PIXEL, "image/png")), "Please analyze the image above.",
            ]),
            Prompt("test_input_required_result_prompt", self.with_question),
        ]  # fmt: skip

    # --- prompts --------------------------------------------------------------------------------------------------

    def with_arguments(self, context: Any, arguments: Arguments) -> str:
        return f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"

    def with_resource(self, context: Any, arguments: Arguments) -> list[Message]:
        embedded = Embedded(arguments["resourceUri"], "Embedded resource content for testing.", "text/plain")
        return [Message(embedded), Message("Please process the embedded resource above.")]

    def with_question(self, context: Any, arguments: Arguments) -> Ask | str:
        answer = filled_in(context, "user_context", "context")
        if answer is None:
            return Ask({"user_context": asks("In which context?", {"context": {"type": "string"}}, ("context",))})
        return f"Use the following context: {answer}"

    # --- plain results --------------------------------------------------------------------------------------------

    def test_simple_text(self, context: Any, arguments: Arguments) -> str:
        return "This is a simple text response for testing."

    def test_image_content(self, context: Any, arguments: Arguments) -> Result:
        return Result(parts=[Image(PIXEL, "image/png")])

    def test_audio_content(self, context: Any, arguments: Arguments) -> Result:
        return Result(parts=[Audio(SILENCE, "audio/wav")])

    def test_embedded_resource(self, context: Any, arguments: Arguments) -> Result:
        text = "This is an embedded resource content."
        return Result(parts=[Embedded("test://embedded-resource", text, "text/plain")])

    def test_multiple_content_types(self, context: Any, arguments: Arguments) -> Result:
        document = Embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json")
        return Result(text="Multiple content types test:", parts=[Image(PIXEL, "image/png"), document])

    def test_error_handling(self, context: Any, arguments: Arguments) -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    def json_schema_2020_12_tool(self, context: Any, arguments: Arguments) -> str:
        return "taken"

    def test_x_mcp_header(self, context: Any, arguments: Arguments) -> str:
        return f"region={arguments.get('region')}"

    # --- while it runs --------------------------------------------------------------------------------------------

    async def test_tool_with_logging(self, context: Any, arguments: Arguments) -> str:
        for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            context.client.say(words)
            await asyncio.sleep(STEP_SECONDS)
        return "said"

    def test_logging_tool(self, context: Any, arguments: Arguments) -> str:
        context.client.say("a few words")
        return "said"

    async def test_tool_with_progress(self, context: Any, arguments: Arguments) -> str:
        for done in (0, 50, 100):
            context.progress(done, 100, f"step {done}")
            await asyncio.sleep(STEP_SECONDS)
        return "done"

    def test_streaming_elicitation(self, context: Any, arguments: Arguments) -> str:
        context.progress(0, 1)
        return "done"

    async def test_reconnection(self, context: Any, arguments: Arguments) -> str:
        context.client.let_go()
        await asyncio.sleep(STEP_SECONDS)
        return "Reconnection test completed"

    def test_trigger_tool_change(self, context: Any, arguments: Arguments) -> str:
        self._switch()
        return "changed"

    test_trigger_prompt_change = test_trigger_tool_change

    # --- questions ------------------------------------------------------------------------------------------------

    def test_sampling(self, context: Any, arguments: Arguments) -> Ask | str:
        if (answer := answered(context, "said")) is None:
            return Ask({"said": Sample(arguments["prompt"], 100)})
        return f"LLM response: {answer['content']['text']}"

    def test_elicitation(self, context: Any, arguments: Arguments) -> Ask | str:
        fields = {"username": {"type": "string"}, "email": {"type": "string"}}
        question = Form(arguments["message"], {"type": "object", "properties": fields, "required": list(fields)})
        return form(context, question, "User response")

    def test_elicitation_sep1034_defaults(self, context: Any, arguments: Arguments) -> Ask | str:
        return form(context, asks("Defaults", DEFAULTS), "Elicitation completed")

    def test_elicitation_sep1330_enums(self, context: Any, arguments: Arguments) -> Ask | str:
        return form(context, asks("Choices", ENUMS), "Elicitation completed")

    def test_missing_capability(self, context: Any, arguments: Arguments) -> Ask | str:
        return "answered" if context.client.answers else Ask({"said": CAPITAL})

    def test_input_required_result_elicitation(self, context: Any, arguments: Arguments) -> Ask | str:
        name = filled_in(context, "user_name", "name")
        return f"Hello, {name}!" if isinstance(name, str) else Ask({"user_name": NAME})

    def test_input_required_result_sampling(self, context: Any, arguments: Arguments) -> Ask | str:
        if (answer := answered(context, "capital_question")) is None:
            return Ask({"capital_question": CAPITAL})
        return f"Model said: {json.dumps(answer['content'])}"

    def test_input_required_result_list_roots(self, context: Any, arguments: Arguments) -> Ask | str:
        if (answer := answered(context, "client_roots")) is None:
            return Ask({"client_roots": Roots()})
        return f"{len(answer['roots'])} roots"

    def test_input_required_result_request_state(self, context: Any, arguments: Arguments) -> Ask | str:
        if answered(context, "confirm") is not None and context.client.state == "remembered":
            return "state-ok"
        return Ask({"confirm": OK}, state="remembered")

    def test_input_required_result_multiple_inputs(self, context: Any, arguments: Arguments) -> Ask | str:
        questions = {"user_name": NAME, "greeting": Sample("Greet somebody", 50), "client_roots": Roots()}
        if all(answered(context, name) is not None for name in questions):
            return "All inputs received."
        return Ask(questions, state="several")

    def test_input_required_result_multi_round(self, context: Any, arguments: Arguments) -> Ask | str:
        known = json.loads(context.client.state or "{}")
        if known.get("round") == 1 and (name := filled_in(context, "step1", "name")) is not None:
            color = asks("Which color?", {"color": {"type": "string"}}, ("color",))
            return Ask({"step2": color}, state=json.dumps({"round": 2, "name": name}))
        if known.get("round") == 2 and (color := filled_in(context, "step2", "color")) is not None:
            return f"{known['name']} likes {color}."
        return Ask({"step1": NAME}, state=json.dumps({"round": 1}))

    def test_input_required_result_tampered_state(self, context: Any, arguments: Arguments) -> Ask | str:
        return Ask({"confirm": OK}, state="round 1") if context.client.state is None else "state-ok"

    def test_input_required_result_capabilities(self, context: Any, arguments: Arguments) -> Ask | str:
        offered = {"sampling": ("sample", CAPITAL), "elicitation": ("ask", NAME)}
        questions = {name: question for ability, (name, question) in offered.items() if ability in context.client.can}
        return Ask(questions, state="asked") if questions else "nothing to ask"


def answered(context: Any, name: str) -> dict[str, Any] | None:
    """The client's answer of that name, where it is one."""
    answer = (context.client.answers or {}).get(name)
    return answer if isinstance(answer, dict) else None


def filled_in(context: Any, name: str, field: str) -> Any:
    """A field of a form that was filled in."""
    content = (answered(context, name) or {}).get("content")
    return content.get(field) if isinstance(content, dict) else None


def form(context: Any, question: Form, words: str) -> Ask | str:
    """Ask with one form, and tell what was answered."""
    if (answer := answered(context, "form")) is None:
        return Ask({"form": question})
    return f"{words}: action={answer['action']}, content={json.dumps(answer.get('content'))}"


def conformance(home: Home) -> Host:
    """The host, active; `test_trigger_*` switches a plugin off and on again."""
    on = [True]

    def switch() -> None:
        on[0] = not on[0]
        host.switch("extra", on[0])

    host = Host(
        CONTRACT,
        home=home,
        own=Own(folder=HERE / "conformance_own", make=lambda context: Fixture(switch)),
        builtin=[HERE / "conformance_extra"],
        discover=False,
    )
    for status in host.activate():
        assert status.state == "active", status
    return host


async def serve(port: int, token: str) -> None:
    """Serve it on a port, to whoever has the token."""

    def named(given: str) -> Principal | None:
        return OWNER if hmac.compare_digest(given.encode(), token.encode()) else None

    with tempfile.TemporaryDirectory() as folder:
        host = conformance(Home(Path(folder)))
        try:
            async with anyio.create_task_group() as tasks:
                address = await tasks.start(Listener(host, port=port, named=named).run)
                print(address.url, flush=True)  # noqa: T201 - whoever started it waits for this line
        finally:
            host.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    anyio.run(serve, options.port, options.token)
