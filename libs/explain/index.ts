export { compareSides } from './diff/compare-sides.ts'
export type { SideDifference, SidesCompared } from './diff/compare-sides.ts'
export { hideValues } from './hide-values.ts'
export { kindAndName, resourceNamed } from './kinds/resource-named.ts'
export type { NamedResource } from './kinds/resource-named.ts'
export type { SyncOfKind, SyncSetting } from './kinds/sync-settings.ts'
export { pipelineState } from './pipeline/pipeline-state.ts'
export type { PartitionState, PipelineState } from './pipeline/pipeline-state.ts'
export type { Sources } from './sources.ts'
export type { Difference } from './story/differences.ts'
export { followStory, readStory } from './story/read-story.ts'
export type { StoryLog, StoryOptions } from './story/read-story.ts'
export type {
  ChangeEntry,
  IntentEntry,
  OutcomeEntry,
  StageTimes,
  Story,
  StoryEntry,
  UnreadableEntry,
} from './story/story-entry.ts'
export { storySubject } from './story/story-subject.ts'
export type { StorySubject } from './story/story-subject.ts'
export { storySpans } from './story/to-spans.ts'
export type { OtlpSpan, OtlpTraces } from './story/to-spans.ts'
export { explain } from './why/explain.ts'
export type { Explanation } from './why/explain.ts'
export { lagOf } from './why/lag-of.ts'
export { explainHost } from './why/explain-host.ts'
export type { HostExplanation } from './why/explain-host.ts'
export type { ApiFact, Facts, LiveFact, SeenFact, ServiceFact, WantedWrite, WriteFact } from './why/facts.ts'
export { REMEDIES, VERDICTS } from './why/verdicts.ts'
export type { Verdict, VerdictReason } from './why/verdicts.ts'
