# Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.
"""The types of what jcode writes and reads, for type checkers."""

from typing import Any, Literal, TypedDict, Union

# Events: what happens in a session.

_AnyEventMore = TypedDict("_AnyEventMore", {
    "agent": str,
    "agent_session": str,
    "n": int,
    "parent": str,
    "to": int,
    "worktree": str,
}, total=False)


class AnyEvent(_AnyEventMore):
    """AnyEvent has the fields that each event may have."""


_TurnStartEvent = TypedDict("_TurnStartEvent", {
    "type": Literal["turn_start"],
    "at": str,
    "prompt": str,
    "seq": int,
    "turn": int,
})

_TurnStartEventMore = TypedDict("_TurnStartEventMore", {
    "queued": str,
}, total=False)


class TurnStartEvent(_TurnStartEvent, _TurnStartEventMore, AnyEvent):
    """TurnStartEvent is the event turn_start."""


_StepStartEvent = TypedDict("_StepStartEvent", {
    "type": Literal["step_start"],
    "step": int,
})


class StepStartEvent(_StepStartEvent, AnyEvent):
    """StepStartEvent is the event step_start."""


_TextEvent = TypedDict("_TextEvent", {
    "type": Literal["text"],
    "delta": str,
})


class TextEvent(_TextEvent, AnyEvent):
    """TextEvent is the event text."""


_ReasoningEvent = TypedDict("_ReasoningEvent", {
    "type": Literal["reasoning"],
    "delta": str,
})


class ReasoningEvent(_ReasoningEvent, AnyEvent):
    """ReasoningEvent is the event reasoning."""


_AnswerResetEvent = TypedDict("_AnswerResetEvent", {
    "type": Literal["answer_reset"],
    "reason": str,
})


class AnswerResetEvent(_AnswerResetEvent, AnyEvent):
    """AnswerResetEvent is the event answer_reset."""


_ToolWritingEvent = TypedDict("_ToolWritingEvent", {
    "type": Literal["tool_writing"],
    "bytes": int,
    "index": int,
    "name": str,
})


class ToolWritingEvent(_ToolWritingEvent, AnyEvent):
    """ToolWritingEvent is the event tool_writing."""


_AssistantEvent = TypedDict("_AssistantEvent", {
    "type": Literal["assistant"],
    "calls": int,
    "seq": int,
    "text": str,
})

_AssistantEventMore = TypedDict("_AssistantEventMore", {
    "reasoning": str,
}, total=False)


class AssistantEvent(_AssistantEvent, _AssistantEventMore, AnyEvent):
    """AssistantEvent is the event assistant."""


_ToolCallEvent = TypedDict("_ToolCallEvent", {
    "type": Literal["tool_call"],
    "arguments": Any,
    "id": str,
    "name": str,
})

_ToolCallEventMore = TypedDict("_ToolCallEventMore", {
    "at": Union[str, None],
    "changed_by": str,
    "from": Any,
}, total=False)


class ToolCallEvent(_ToolCallEvent, _ToolCallEventMore, AnyEvent):
    """ToolCallEvent is the event tool_call."""


_ToolProgressEvent = TypedDict("_ToolProgressEvent", {
    "type": Literal["tool_progress"],
    "id": str,
})

_ToolProgressEventMore = TypedDict("_ToolProgressEventMore", {
    "output": str,
    "state": str,
}, total=False)


class ToolProgressEvent(_ToolProgressEvent, _ToolProgressEventMore, AnyEvent):
    """ToolProgressEvent is the event tool_progress."""


_ToolResultEventDisplayMore = TypedDict("_ToolResultEventDisplayMore", {
    "added": int,
    "changed_by": str,
    "child": str,
    "diff": str,
    "exit_code": Union[int, None],
    "files": Union[list[str], None],
    "found": str,
    "log": str,
    "path": str,
    "ran": Any,
    "removed": int,
    "summary": str,
}, total=False)


class ToolResultEventDisplay(_ToolResultEventDisplayMore):
    """ToolResultEventDisplay is display of ToolResultEvent."""


_ToolResultEventParts = TypedDict("_ToolResultEventParts", {
    "data": str,
    "mime": str,
})

_ToolResultEventPartsMore = TypedDict("_ToolResultEventPartsMore", {
    "text": str,
}, total=False)


class ToolResultEventParts(_ToolResultEventParts, _ToolResultEventPartsMore):
    """ToolResultEventParts is parts of ToolResultEvent."""


_ToolResultEvent = TypedDict("_ToolResultEvent", {
    "type": Literal["tool_result"],
    "content": str,
    "duration_ms": int,
    "id": str,
    "name": str,
    "ok": bool,
})

_ToolResultEventMore = TypedDict("_ToolResultEventMore", {
    "data": Any,
    "display": Union[ToolResultEventDisplay, None],
    "failure": str,
    "parts": Union[list[ToolResultEventParts], None],
    "status": str,
}, total=False)


class ToolResultEvent(_ToolResultEvent, _ToolResultEventMore, AnyEvent):
    """ToolResultEvent is the event tool_result."""


_ApprovalAskedEventQuestionHunks = TypedDict("_ApprovalAskedEventQuestionHunks", {
    "added": int,
    "diff": str,
    "file": str,
    "line": int,
    "removed": int,
})


class ApprovalAskedEventQuestionHunks(_ApprovalAskedEventQuestionHunks):
    """ApprovalAskedEventQuestionHunks is hunks of ApprovalAskedEventQuestion."""


_ApprovalAskedEventQuestionOptions = TypedDict("_ApprovalAskedEventQuestionOptions", {
    "label": str,
    "scope": str,
})

_ApprovalAskedEventQuestionOptionsMore = TypedDict("_ApprovalAskedEventQuestionOptionsMore", {
    "rules": Union[list[str], None],
    "words": str,
}, total=False)


class ApprovalAskedEventQuestionOptions(_ApprovalAskedEventQuestionOptions, _ApprovalAskedEventQuestionOptionsMore):
    """ApprovalAskedEventQuestionOptions is options of ApprovalAskedEventQuestion."""


_ApprovalAskedEventQuestion = TypedDict("_ApprovalAskedEventQuestion", {
    "call_id": str,
    "options": Union[list[ApprovalAskedEventQuestionOptions], None],
    "title": str,
    "tool": str,
})

_ApprovalAskedEventQuestionMore = TypedDict("_ApprovalAskedEventQuestionMore", {
    "arguments": Any,
    "command": str,
    "details": Union[list[str], None],
    "diff": str,
    "editable": str,
    "hunks": Union[list[ApprovalAskedEventQuestionHunks], None],
    "label": str,
}, total=False)


class ApprovalAskedEventQuestion(_ApprovalAskedEventQuestion, _ApprovalAskedEventQuestionMore):
    """ApprovalAskedEventQuestion is question of ApprovalAskedEvent."""


_ApprovalAskedEvent = TypedDict("_ApprovalAskedEvent", {
    "type": Literal["approval_asked"],
    "id": str,
    "question": ApprovalAskedEventQuestion,
})


class ApprovalAskedEvent(_ApprovalAskedEvent, AnyEvent):
    """ApprovalAskedEvent is the event approval_asked."""


_ApprovalClosedEvent = TypedDict("_ApprovalClosedEvent", {
    "type": Literal["approval_closed"],
    "id": str,
})

_ApprovalClosedEventMore = TypedDict("_ApprovalClosedEventMore", {
    "by": str,
}, total=False)


class ApprovalClosedEvent(_ApprovalClosedEvent, _ApprovalClosedEventMore, AnyEvent):
    """ApprovalClosedEvent is the event approval_closed."""


_ApprovalEvent = TypedDict("_ApprovalEvent", {
    "type": Literal["approval"],
    "by": str,
    "decision": str,
    "id": str,
    "rule": str,
})

_ApprovalEventMore = TypedDict("_ApprovalEventMore", {
    "name": str,
}, total=False)


class ApprovalEvent(_ApprovalEvent, _ApprovalEventMore, AnyEvent):
    """ApprovalEvent is the event approval."""


_AskEvent = TypedDict("_AskEvent", {
    "type": Literal["ask"],
    "id": str,
    "options": Union[list[str], None],
    "text": str,
})

_AskEventMore = TypedDict("_AskEventMore", {
    "label": str,
}, total=False)


class AskEvent(_AskEvent, _AskEventMore, AnyEvent):
    """AskEvent is the event ask."""


_FormEventFormFields = TypedDict("_FormEventFormFields", {
    "kind": str,
    "name": str,
})

_FormEventFormFieldsMore = TypedDict("_FormEventFormFieldsMore", {
    "default": Any,
    "description": str,
    "format": str,
    "labels": Union[list[str], None],
    "max": Union[float, None],
    "min": Union[float, None],
    "options": Union[list[str], None],
    "pattern": str,
    "required": bool,
    "secret": bool,
    "title": str,
}, total=False)


class FormEventFormFields(_FormEventFormFields, _FormEventFormFieldsMore):
    """FormEventFormFields is fields of FormEventForm."""


_FormEventForm = TypedDict("_FormEventForm", {
    "fields": Union[list[FormEventFormFields], None],
    "from": str,
    "text": str,
})

_FormEventFormMore = TypedDict("_FormEventFormMore", {
    "no": str,
    "person": bool,
    "yes": str,
}, total=False)


class FormEventForm(_FormEventForm, _FormEventFormMore):
    """FormEventForm is form of FormEvent."""


_FormEvent = TypedDict("_FormEvent", {
    "type": Literal["form"],
    "form": FormEventForm,
    "id": str,
})


class FormEvent(_FormEvent, AnyEvent):
    """FormEvent is the event form."""


_AskClosedEvent = TypedDict("_AskClosedEvent", {
    "type": Literal["ask_closed"],
    "id": str,
})

_AskClosedEventMore = TypedDict("_AskClosedEventMore", {
    "by": str,
}, total=False)


class AskClosedEvent(_AskClosedEvent, _AskClosedEventMore, AnyEvent):
    """AskClosedEvent is the event ask_closed."""


_TodoEventItems = TypedDict("_TodoEventItems", {
    "status": str,
    "text": str,
})


class TodoEventItems(_TodoEventItems):
    """TodoEventItems is items of TodoEvent."""


_TodoEvent = TypedDict("_TodoEvent", {
    "type": Literal["todo"],
    "items": Union[list[TodoEventItems], None],
})


class TodoEvent(_TodoEvent, AnyEvent):
    """TodoEvent is the event todo."""


_ToolsChangedEvent = TypedDict("_ToolsChangedEvent", {
    "type": Literal["tools_changed"],
    "added": Union[list[str], None],
    "owner": str,
    "removed": Union[list[str], None],
})


class ToolsChangedEvent(_ToolsChangedEvent, AnyEvent):
    """ToolsChangedEvent is the event tools_changed."""


_NoticeEvent = TypedDict("_NoticeEvent", {
    "type": Literal["notice"],
    "level": str,
    "message": str,
})


class NoticeEvent(_NoticeEvent, AnyEvent):
    """NoticeEvent is the event notice."""


_RetryingEvent = TypedDict("_RetryingEvent", {
    "type": Literal["retrying"],
    "attempt": int,
    "reason": str,
    "wait_ms": int,
})


class RetryingEvent(_RetryingEvent, AnyEvent):
    """RetryingEvent is the event retrying."""


_CompactingEvent = TypedDict("_CompactingEvent", {
    "type": Literal["compacting"],
})


class CompactingEvent(_CompactingEvent, AnyEvent):
    """CompactingEvent is the event compacting."""


_CompactionEvent = TypedDict("_CompactionEvent", {
    "type": Literal["compaction"],
    "after_tokens": int,
    "before_tokens": int,
})


class CompactionEvent(_CompactionEvent, AnyEvent):
    """CompactionEvent is the event compaction."""


_RewoundEvent = TypedDict("_RewoundEvent", {
    "type": Literal["rewound"],
    "from": int,
})


class RewoundEvent(_RewoundEvent, AnyEvent):
    """RewoundEvent is the event rewound."""


_UsageEventTotal = TypedDict("_UsageEventTotal", {
    "cached_tokens": int,
    "estimated": bool,
    "input_tokens": int,
    "output_tokens": int,
})

_UsageEventTotalMore = TypedDict("_UsageEventTotalMore", {
    "cache_write_1h_tokens": int,
    "cache_write_tokens": int,
    "cost": float,
    "service_tier": str,
    "web_searches": int,
}, total=False)


class UsageEventTotal(_UsageEventTotal, _UsageEventTotalMore):
    """UsageEventTotal is total of UsageEvent."""


_UsageEvent = TypedDict("_UsageEvent", {
    "type": Literal["usage"],
    "cached_tokens": int,
    "cost_usd": Union[float, None],
    "estimated": bool,
    "input_tokens": int,
    "output_tokens": int,
})

_UsageEventMore = TypedDict("_UsageEventMore", {
    "beside": bool,
    "cache_write_1h_tokens": int,
    "cache_write_tokens": int,
    "context_tokens": int,
    "context_window": int,
    "cost": float,
    "service_tier": str,
    "total": Union[UsageEventTotal, None],
    "web_searches": int,
}, total=False)


class UsageEvent(_UsageEvent, _UsageEventMore, AnyEvent):
    """UsageEvent is the event usage."""


_QueueEventPrompts = TypedDict("_QueueEventPrompts", {
    "id": str,
    "text": str,
})


class QueueEventPrompts(_QueueEventPrompts):
    """QueueEventPrompts is prompts of QueueEvent."""


_QueueEvent = TypedDict("_QueueEvent", {
    "type": Literal["queue"],
    "prompts": Union[list[QueueEventPrompts], None],
})


class QueueEvent(_QueueEvent, AnyEvent):
    """QueueEvent is the event queue."""


_PreparingEvent = TypedDict("_PreparingEvent", {
    "type": Literal["preparing"],
    "doing": str,
    "prompt": str,
})

_PreparingEventMore = TypedDict("_PreparingEventMore", {
    "queued": str,
}, total=False)


class PreparingEvent(_PreparingEvent, _PreparingEventMore, AnyEvent):
    """PreparingEvent is the event preparing."""


_UnsentEvent = TypedDict("_UnsentEvent", {
    "type": Literal["unsent"],
    "error": str,
    "prompt": str,
})

_UnsentEventMore = TypedDict("_UnsentEventMore", {
    "queued": str,
}, total=False)


class UnsentEvent(_UnsentEvent, _UnsentEventMore, AnyEvent):
    """UnsentEvent is the event unsent."""


_StateEvent = TypedDict("_StateEvent", {
    "type": Literal["state"],
    "busy": bool,
    "cwd": str,
    "mode": str,
    "model": str,
    "role": str,
    "session_id": str,
    "title": str,
})

_StateEventMore = TypedDict("_StateEventMore", {
    "effort": str,
    "max_mode": str,
    "planning": bool,
    "private": bool,
    "read_only": bool,
}, total=False)


class StateEvent(_StateEvent, _StateEventMore, AnyEvent):
    """StateEvent is the event state."""


_TurnEndEvent = TypedDict("_TurnEndEvent", {
    "type": Literal["turn_end"],
    "calls": int,
    "duration_ms": int,
    "reason": str,
    "steps": int,
    "text": str,
    "turn": int,
})

_TurnEndEventMore = TypedDict("_TurnEndEventMore", {
    "error": str,
    "finish": str,
    "queued": str,
}, total=False)


class TurnEndEvent(_TurnEndEvent, _TurnEndEventMore, AnyEvent):
    """TurnEndEvent is the event turn_end."""


_NotesUsedEventNotes = TypedDict("_NotesUsedEventNotes", {
    "from": str,
    "id": str,
    "text": str,
})


class NotesUsedEventNotes(_NotesUsedEventNotes):
    """NotesUsedEventNotes is notes of NotesUsedEvent."""


_NotesUsedEvent = TypedDict("_NotesUsedEvent", {
    "type": Literal["notes_used"],
    "notes": Union[list[NotesUsedEventNotes], None],
})


class NotesUsedEvent(_NotesUsedEvent, AnyEvent):
    """NotesUsedEvent is the event notes_used."""


_AgentEvent = TypedDict("_AgentEvent", {
    "type": Literal["agent"],
    "cost_usd": float,
    "name": str,
    "session_id": str,
    "status": str,
    "tokens": int,
})

_AgentEventMore = TypedDict("_AgentEventMore", {
    "added": int,
    "answer": str,
    "call": str,
    "changed": bool,
    "dir": str,
    "doing": str,
    "ended": Union[str, None],
    "estimated": bool,
    "files": int,
    "model": str,
    "of": str,
    "removed": int,
    "role": str,
    "started": Union[str, None],
}, total=False)


class AgentEvent(_AgentEvent, _AgentEventMore, AnyEvent):
    """AgentEvent is the event agent."""


Event = Union[
    TurnStartEvent,
    StepStartEvent,
    TextEvent,
    ReasoningEvent,
    AnswerResetEvent,
    ToolWritingEvent,
    AssistantEvent,
    ToolCallEvent,
    ToolProgressEvent,
    ToolResultEvent,
    ApprovalAskedEvent,
    ApprovalClosedEvent,
    ApprovalEvent,
    AskEvent,
    FormEvent,
    AskClosedEvent,
    TodoEvent,
    ToolsChangedEvent,
    NoticeEvent,
    RetryingEvent,
    CompactingEvent,
    CompactionEvent,
    RewoundEvent,
    UsageEvent,
    QueueEvent,
    PreparingEvent,
    UnsentEvent,
    StateEvent,
    TurnEndEvent,
    NotesUsedEvent,
    AgentEvent,
]

# Lines of input, and what jcode writes in answer to them.

_AgentsMessageLine = TypedDict("_AgentsMessageLine", {
    "name": str,
})

_AgentsMessageLineMore = TypedDict("_AgentsMessageLineMore", {
    "text": str,
}, total=False)


class AgentsMessageLine(_AgentsMessageLine, _AgentsMessageLineMore):
    """AgentsMessageLine is the line agents.message of the input."""


_AgentsOutputLine = TypedDict("_AgentsOutputLine", {
    "name": str,
})

_AgentsOutputLineMore = TypedDict("_AgentsOutputLineMore", {
    "text": str,
}, total=False)


class AgentsOutputLine(_AgentsOutputLine, _AgentsOutputLineMore):
    """AgentsOutputLine is the line agents.output of the input."""


_AgentsStopLine = TypedDict("_AgentsStopLine", {
    "name": str,
})

_AgentsStopLineMore = TypedDict("_AgentsStopLineMore", {
    "text": str,
}, total=False)


class AgentsStopLine(_AgentsStopLine, _AgentsStopLineMore):
    """AgentsStopLine is the line agents.stop of the input."""


_AnswerLine = TypedDict("_AnswerLine", {
    "id": str,
    "option": int,
})

_AnswerLineMore = TypedDict("_AnswerLineMore", {
    "hunks": Union[list[int], None],
    "word": str,
}, total=False)


class AnswerLine(_AnswerLine, _AnswerLineMore):
    """AnswerLine is the line answer of the input."""



class ChoicesLine(TypedDict):
    """ChoicesLine is the line choices of the input."""


_FilesLine = TypedDict("_FilesLine", {
    "query": str,
})


class FilesLine(_FilesLine):
    """FilesLine is the line files of the input."""


_FillLine = TypedDict("_FillLine", {
    "action": str,
    "id": str,
})

_FillLineMore = TypedDict("_FillLineMore", {
    "values": dict[str, Any],
}, total=False)


class FillLine(_FillLine, _FillLineMore):
    """FillLine is the line fill of the input."""



class InterruptLine(TypedDict):
    """InterruptLine is the line interrupt of the input."""


_MCPLine = TypedDict("_MCPLine", {
    "message": Any,
    "server": str,
})


class MCPLine(_MCPLine):
    """MCPLine is the line mcp of the input."""


_PromptLinePictures = TypedDict("_PromptLinePictures", {
    "data": str,
})

_PromptLinePicturesMore = TypedDict("_PromptLinePicturesMore", {
    "name": str,
}, total=False)


class PromptLinePictures(_PromptLinePictures, _PromptLinePicturesMore):
    """PromptLinePictures is pictures of PromptLine."""


_PromptLine = TypedDict("_PromptLine", {
    "text": str,
})

_PromptLineMore = TypedDict("_PromptLineMore", {
    "pictures": Union[list[PromptLinePictures], None],
}, total=False)


class PromptLine(_PromptLine, _PromptLineMore):
    """PromptLine is the line prompt of the input."""


_ReplyLine = TypedDict("_ReplyLine", {
    "id": str,
    "text": str,
})


class ReplyLine(_ReplyLine):
    """ReplyLine is the line reply of the input."""


_RewindLine = TypedDict("_RewindLine", {
    "seq": int,
})

_RewindLineMore = TypedDict("_RewindLineMore", {
    "what": str,
}, total=False)


class RewindLine(_RewindLine, _RewindLineMore):
    """RewindLine is the line rewind of the input."""


_RoleLineMore = TypedDict("_RoleLineMore", {
    "name": str,
}, total=False)


class RoleLine(_RoleLineMore):
    """RoleLine is the line role of the input."""


_ServeLine = TypedDict("_ServeLine", {
    "name": str,
})

_ServeLineMore = TypedDict("_ServeLineMore", {
    "timeout_seconds": float,
    "trusted": bool,
}, total=False)


class ServeLine(_ServeLine, _ServeLineMore):
    """ServeLine is the line serve of the input."""


_SetLineMore = TypedDict("_SetLineMore", {
    "mode": str,
    "model": str,
}, total=False)


class SetLine(_SetLineMore):
    """SetLine is the line set of the input."""


_UndoLineMore = TypedDict("_UndoLineMore", {
    "redo": bool,
}, total=False)


class UndoLine(_UndoLineMore):
    """UndoLine is the line undo of the input."""


_UnqueueLine = TypedDict("_UnqueueLine", {
    "id": str,
})


class UnqueueLine(_UnqueueLine):
    """UnqueueLine is the line unqueue of the input."""


_AgentsOutputOutput = TypedDict("_AgentsOutputOutput", {
    "text": str,
})


class AgentsOutputOutput(_AgentsOutputOutput):
    """AgentsOutputOutput is what jcode writes of agents.output."""


_ChoicesOutputModels = TypedDict("_ChoicesOutputModels", {
    "name": str,
})

_ChoicesOutputModelsMore = TypedDict("_ChoicesOutputModelsMore", {
    "current": bool,
    "info": str,
}, total=False)


class ChoicesOutputModels(_ChoicesOutputModels, _ChoicesOutputModelsMore):
    """ChoicesOutputModels is models of ChoicesOutput."""


_ChoicesOutputRoles = TypedDict("_ChoicesOutputRoles", {
    "name": str,
})

_ChoicesOutputRolesMore = TypedDict("_ChoicesOutputRolesMore", {
    "current": bool,
    "info": str,
}, total=False)


class ChoicesOutputRoles(_ChoicesOutputRoles, _ChoicesOutputRolesMore):
    """ChoicesOutputRoles is roles of ChoicesOutput."""


_ChoicesOutput = TypedDict("_ChoicesOutput", {
    "models": Union[list[ChoicesOutputModels], None],
    "roles": Union[list[ChoicesOutputRoles], None],
})


class ChoicesOutput(_ChoicesOutput):
    """ChoicesOutput is what jcode writes of choices."""


_FilesOutput = TypedDict("_FilesOutput", {
    "names": Union[list[str], None],
})


class FilesOutput(_FilesOutput):
    """FilesOutput is what jcode writes of files."""


_MCPOutput = TypedDict("_MCPOutput", {
    "message": Any,
    "server": str,
})

_MCPOutputMore = TypedDict("_MCPOutputMore", {
    "type": str,
}, total=False)


class MCPOutput(_MCPOutput, _MCPOutputMore):
    """MCPOutput is what jcode writes of mcp."""


_PromptedOutputMore = TypedDict("_PromptedOutputMore", {
    "id": str,
    "said": str,
}, total=False)


class PromptedOutput(_PromptedOutputMore):
    """PromptedOutput is what jcode writes of prompted."""


_ResponseOutput = TypedDict("_ResponseOutput", {
    "type": str,
    "line": int,
    "ok": bool,
})

_ResponseOutputMore = TypedDict("_ResponseOutputMore", {
    "error": str,
    "kind": str,
    "request": str,
    "result": Any,
}, total=False)


class ResponseOutput(_ResponseOutput, _ResponseOutputMore):
    """ResponseOutput is what jcode writes of response."""


_RewindOutputMore = TypedDict("_RewindOutputMore", {
    "draft": str,
    "said": str,
}, total=False)


class RewindOutput(_RewindOutputMore):
    """RewindOutput is what jcode writes of rewind."""


_ServedOutputFaults = TypedDict("_ServedOutputFaults", {
    "name": str,
    "why": str,
})


class ServedOutputFaults(_ServedOutputFaults):
    """ServedOutputFaults is faults of ServedOutput."""


_ServedOutput = TypedDict("_ServedOutput", {
    "tools": Union[list[str], None],
})

_ServedOutputMore = TypedDict("_ServedOutputMore", {
    "faults": Union[list[ServedOutputFaults], None],
}, total=False)


class ServedOutput(_ServedOutput, _ServedOutputMore):
    """ServedOutput is what jcode writes of served."""


_UndoOutput = TypedDict("_UndoOutput", {
    "said": str,
})


class UndoOutput(_UndoOutput):
    """UndoOutput is what jcode writes of undo."""


Line = Union[
    AgentsMessageLine,
    AgentsOutputLine,
    AgentsStopLine,
    AnswerLine,
    ChoicesLine,
    FilesLine,
    FillLine,
    InterruptLine,
    MCPLine,
    PromptLine,
    ReplyLine,
    RewindLine,
    RoleLine,
    ServeLine,
    SetLine,
    UndoLine,
    UnqueueLine,
]

# The session protocol, for programs that speak it themselves.

_AgentsMessageParams = TypedDict("_AgentsMessageParams", {
    "name": str,
    "session": str,
})

_AgentsMessageParamsMore = TypedDict("_AgentsMessageParamsMore", {
    "text": str,
}, total=False)


class AgentsMessageParams(_AgentsMessageParams, _AgentsMessageParamsMore):
    """AgentsMessageParams is what the method agents.message takes."""


_AgentsOutputParams = TypedDict("_AgentsOutputParams", {
    "name": str,
    "session": str,
})

_AgentsOutputParamsMore = TypedDict("_AgentsOutputParamsMore", {
    "text": str,
}, total=False)


class AgentsOutputParams(_AgentsOutputParams, _AgentsOutputParamsMore):
    """AgentsOutputParams is what the method agents.output takes."""


_AgentsOutputResult = TypedDict("_AgentsOutputResult", {
    "text": str,
})


class AgentsOutputResult(_AgentsOutputResult):
    """AgentsOutputResult is what the method agents.output returns."""


_AgentsStopParams = TypedDict("_AgentsStopParams", {
    "name": str,
    "session": str,
})

_AgentsStopParamsMore = TypedDict("_AgentsStopParamsMore", {
    "text": str,
}, total=False)


class AgentsStopParams(_AgentsStopParams, _AgentsStopParamsMore):
    """AgentsStopParams is what the method agents.stop takes."""


_AnswerParams = TypedDict("_AnswerParams", {
    "id": str,
    "option": int,
    "session": str,
})

_AnswerParamsMore = TypedDict("_AnswerParamsMore", {
    "hunks": Union[list[int], None],
    "word": str,
}, total=False)


class AnswerParams(_AnswerParams, _AnswerParamsMore):
    """AnswerParams is what the method answer takes."""


_AttachParams = TypedDict("_AttachParams", {
    "role": str,
    "session": str,
})

_AttachParamsMore = TypedDict("_AttachParamsMore", {
    "after": Union[int, None],
    "recent": int,
}, total=False)


class AttachParams(_AttachParams, _AttachParamsMore):
    """AttachParams is what the method attach takes."""


_AttachResultState = TypedDict("_AttachResultState", {
    "type": str,
    "busy": bool,
    "cwd": str,
    "mode": str,
    "model": str,
    "role": str,
    "session_id": str,
    "title": str,
})

_AttachResultStateMore = TypedDict("_AttachResultStateMore", {
    "agent": str,
    "agent_session": str,
    "effort": str,
    "max_mode": str,
    "n": int,
    "parent": str,
    "planning": bool,
    "private": bool,
    "read_only": bool,
    "to": int,
    "worktree": str,
}, total=False)


class AttachResultState(_AttachResultState, _AttachResultStateMore):
    """AttachResultState is state of AttachResult."""


_AttachResult = TypedDict("_AttachResult", {
    "last": int,
    "resumed": bool,
    "role": str,
    "session": str,
    "state": Union[AttachResultState, None],
})

_AttachResultMore = TypedDict("_AttachResultMore", {
    "before": int,
    "history": Union[list[Any], None],
    "now": Union[list[Any], None],
}, total=False)


class AttachResult(_AttachResult, _AttachResultMore):
    """AttachResult is what the method attach returns."""



class BesideResult(TypedDict):
    """BesideResult is what the method beside returns."""


_ChoicesParams = TypedDict("_ChoicesParams", {
    "session": str,
})


class ChoicesParams(_ChoicesParams):
    """ChoicesParams is what the method choices takes."""


_ChoicesResultModels = TypedDict("_ChoicesResultModels", {
    "name": str,
})

_ChoicesResultModelsMore = TypedDict("_ChoicesResultModelsMore", {
    "current": bool,
    "info": str,
}, total=False)


class ChoicesResultModels(_ChoicesResultModels, _ChoicesResultModelsMore):
    """ChoicesResultModels is models of ChoicesResult."""


_ChoicesResultRoles = TypedDict("_ChoicesResultRoles", {
    "name": str,
})

_ChoicesResultRolesMore = TypedDict("_ChoicesResultRolesMore", {
    "current": bool,
    "info": str,
}, total=False)


class ChoicesResultRoles(_ChoicesResultRoles, _ChoicesResultRolesMore):
    """ChoicesResultRoles is roles of ChoicesResult."""


_ChoicesResult = TypedDict("_ChoicesResult", {
    "models": Union[list[ChoicesResultModels], None],
    "roles": Union[list[ChoicesResultRoles], None],
})


class ChoicesResult(_ChoicesResult):
    """ChoicesResult is what the method choices returns."""


_DetachParams = TypedDict("_DetachParams", {
    "session": str,
})


class DetachParams(_DetachParams):
    """DetachParams is what the method detach takes."""


_FilesParams = TypedDict("_FilesParams", {
    "query": str,
    "session": str,
})


class FilesParams(_FilesParams):
    """FilesParams is what the method files takes."""


_FilesResult = TypedDict("_FilesResult", {
    "names": Union[list[str], None],
})


class FilesResult(_FilesResult):
    """FilesResult is what the method files returns."""


_FillParams = TypedDict("_FillParams", {
    "action": str,
    "id": str,
    "session": str,
})

_FillParamsMore = TypedDict("_FillParamsMore", {
    "values": dict[str, Any],
}, total=False)


class FillParams(_FillParams, _FillParamsMore):
    """FillParams is what the method fill takes."""


_HelloParams = TypedDict("_HelloParams", {
    "name": str,
    "token": str,
    "version": int,
})


class HelloParams(_HelloParams):
    """HelloParams is what the method hello takes."""


_HelloResultBackground = TypedDict("_HelloResultBackground", {
    "folder": str,
    "windows": int,
})


class HelloResultBackground(_HelloResultBackground):
    """HelloResultBackground is background of HelloResult."""


_HelloResult = TypedDict("_HelloResult", {
    "jcode": str,
    "pid": int,
    "version": int,
})

_HelloResultMore = TypedDict("_HelloResultMore", {
    "background": Union[HelloResultBackground, None],
}, total=False)


class HelloResult(_HelloResult, _HelloResultMore):
    """HelloResult is what the method hello returns."""


_HistoryParams = TypedDict("_HistoryParams", {
    "before": int,
    "session": str,
})


class HistoryParams(_HistoryParams):
    """HistoryParams is what the method history takes."""


_HistoryResult = TypedDict("_HistoryResult", {
    "history": Union[list[Any], None],
})


class HistoryResult(_HistoryResult):
    """HistoryResult is what the method history returns."""


_InterruptParams = TypedDict("_InterruptParams", {
    "session": str,
})


class InterruptParams(_InterruptParams):
    """InterruptParams is what the method interrupt takes."""


_PromptParamsPictures = TypedDict("_PromptParamsPictures", {
    "data": str,
})

_PromptParamsPicturesMore = TypedDict("_PromptParamsPicturesMore", {
    "name": str,
}, total=False)


class PromptParamsPictures(_PromptParamsPictures, _PromptParamsPicturesMore):
    """PromptParamsPictures is pictures of PromptParams."""


_PromptParams = TypedDict("_PromptParams", {
    "session": str,
    "text": str,
})

_PromptParamsMore = TypedDict("_PromptParamsMore", {
    "pictures": Union[list[PromptParamsPictures], None],
}, total=False)


class PromptParams(_PromptParams, _PromptParamsMore):
    """PromptParams is what the method prompt takes."""


_PromptResult = TypedDict("_PromptResult", {
    "id": str,
    "session": str,
})


class PromptResult(_PromptResult):
    """PromptResult is what the method prompt returns."""


_ReplyParams = TypedDict("_ReplyParams", {
    "id": str,
    "session": str,
    "text": str,
})


class ReplyParams(_ReplyParams):
    """ReplyParams is what the method reply takes."""


_RewindParams = TypedDict("_RewindParams", {
    "seq": int,
    "session": str,
})

_RewindParamsMore = TypedDict("_RewindParamsMore", {
    "what": str,
}, total=False)


class RewindParams(_RewindParams, _RewindParamsMore):
    """RewindParams is what the method rewind takes."""


_RewindResultMore = TypedDict("_RewindResultMore", {
    "draft": str,
    "said": str,
}, total=False)


class RewindResult(_RewindResultMore):
    """RewindResult is what the method rewind returns."""


_RoleParams = TypedDict("_RoleParams", {
    "session": str,
})

_RoleParamsMore = TypedDict("_RoleParamsMore", {
    "name": str,
}, total=False)


class RoleParams(_RoleParams, _RoleParamsMore):
    """RoleParams is what the method role takes."""



class SessionsResult(TypedDict):
    """SessionsResult is what the method sessions returns."""


_SetParams = TypedDict("_SetParams", {
    "session": str,
})

_SetParamsMore = TypedDict("_SetParamsMore", {
    "mode": str,
    "model": str,
}, total=False)


class SetParams(_SetParams, _SetParamsMore):
    """SetParams is what the method set takes."""


_ShowParams = TypedDict("_ShowParams", {
    "cols": int,
    "role": str,
    "rows": int,
})

_ShowParamsMore = TypedDict("_ShowParamsMore", {
    "said": str,
}, total=False)


class ShowParams(_ShowParams, _ShowParamsMore):
    """ShowParams is what the method show takes."""


_SizeParams = TypedDict("_SizeParams", {
    "cols": int,
    "rows": int,
})


class SizeParams(_SizeParams):
    """SizeParams is what the method size takes."""


_TypeParams = TypedDict("_TypeParams", {
    "keys": str,
})


class TypeParams(_TypeParams):
    """TypeParams is what the method type takes."""


_UndoParams = TypedDict("_UndoParams", {
    "session": str,
})

_UndoParamsMore = TypedDict("_UndoParamsMore", {
    "redo": bool,
}, total=False)


class UndoParams(_UndoParams, _UndoParamsMore):
    """UndoParams is what the method undo takes."""


_UndoResult = TypedDict("_UndoResult", {
    "said": str,
})


class UndoResult(_UndoResult):
    """UndoResult is what the method undo returns."""


_UnqueueParams = TypedDict("_UnqueueParams", {
    "id": str,
    "session": str,
})


class UnqueueParams(_UnqueueParams):
    """UnqueueParams is what the method unqueue takes."""


_DrawNote = TypedDict("_DrawNote", {
    "data": str,
})


class DrawNote(_DrawNote):
    """DrawNote is the notification draw."""


_EndedNote = TypedDict("_EndedNote", {
    "session": str,
    "why": str,
})


class EndedNote(_EndedNote):
    """EndedNote is the notification ended."""


_EventNote = TypedDict("_EventNote", {
    "event": Any,
    "session": str,
})


class EventNote(_EventNote):
    """EventNote is the notification event."""


_LeftNote = TypedDict("_LeftNote", {
    "why": str,
})

_LeftNoteMore = TypedDict("_LeftNoteMore", {
    "code": int,
    "name": str,
    "process": int,
}, total=False)


class LeftNote(_LeftNote, _LeftNoteMore):
    """LeftNote is the notification left."""


__all__ = [
    "AnyEvent",
    "TurnStartEvent",
    "StepStartEvent",
    "TextEvent",
    "ReasoningEvent",
    "AnswerResetEvent",
    "ToolWritingEvent",
    "AssistantEvent",
    "ToolCallEvent",
    "ToolProgressEvent",
    "ToolResultEventDisplay",
    "ToolResultEventParts",
    "ToolResultEvent",
    "ApprovalAskedEventQuestionHunks",
    "ApprovalAskedEventQuestionOptions",
    "ApprovalAskedEventQuestion",
    "ApprovalAskedEvent",
    "ApprovalClosedEvent",
    "ApprovalEvent",
    "AskEvent",
    "FormEventFormFields",
    "FormEventForm",
    "FormEvent",
    "AskClosedEvent",
    "TodoEventItems",
    "TodoEvent",
    "ToolsChangedEvent",
    "NoticeEvent",
    "RetryingEvent",
    "CompactingEvent",
    "CompactionEvent",
    "RewoundEvent",
    "UsageEventTotal",
    "UsageEvent",
    "QueueEventPrompts",
    "QueueEvent",
    "PreparingEvent",
    "UnsentEvent",
    "StateEvent",
    "TurnEndEvent",
    "NotesUsedEventNotes",
    "NotesUsedEvent",
    "AgentEvent",
    "Event",
    "AgentsMessageLine",
    "AgentsOutputLine",
    "AgentsStopLine",
    "AnswerLine",
    "ChoicesLine",
    "FilesLine",
    "FillLine",
    "InterruptLine",
    "MCPLine",
    "PromptLinePictures",
    "PromptLine",
    "ReplyLine",
    "RewindLine",
    "RoleLine",
    "ServeLine",
    "SetLine",
    "UndoLine",
    "UnqueueLine",
    "AgentsOutputOutput",
    "ChoicesOutputModels",
    "ChoicesOutputRoles",
    "ChoicesOutput",
    "FilesOutput",
    "MCPOutput",
    "PromptedOutput",
    "ResponseOutput",
    "RewindOutput",
    "ServedOutputFaults",
    "ServedOutput",
    "UndoOutput",
    "Line",
    "AgentsMessageParams",
    "AgentsOutputParams",
    "AgentsOutputResult",
    "AgentsStopParams",
    "AnswerParams",
    "AttachParams",
    "AttachResultState",
    "AttachResult",
    "BesideResult",
    "ChoicesParams",
    "ChoicesResultModels",
    "ChoicesResultRoles",
    "ChoicesResult",
    "DetachParams",
    "FilesParams",
    "FilesResult",
    "FillParams",
    "HelloParams",
    "HelloResultBackground",
    "HelloResult",
    "HistoryParams",
    "HistoryResult",
    "InterruptParams",
    "PromptParamsPictures",
    "PromptParams",
    "PromptResult",
    "ReplyParams",
    "RewindParams",
    "RewindResult",
    "RoleParams",
    "SessionsResult",
    "SetParams",
    "ShowParams",
    "SizeParams",
    "TypeParams",
    "UndoParams",
    "UndoResult",
    "UnqueueParams",
    "DrawNote",
    "EndedNote",
    "EventNote",
    "LeftNote",
]
