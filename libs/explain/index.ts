export { hideValues } from './hide-values.ts'
export { differences } from './story/differences.ts'
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
