import type { Sources } from '../sources.ts'
import type { Story } from '../story/story-entry.ts'
import { type Question, collectFacts } from './collect-facts.ts'
import type { Facts } from './facts.ts'
import { verdictOf } from './verdict.ts'
import type { Verdict } from './verdicts.ts'

/** Why an object is where it is, or is not: the verdict, what it follows from, and the story so far. */
export type Explanation = { verdict: Verdict; facts: Facts; story: Story }

/**
 * Answers why an object of a tenant is, or is not, where it should be.
 * @throws BusError when the log cannot be read: then nothing can be told
 */
export async function explain(sources: Sources, question: Question): Promise<Explanation> {
  const { facts, story } = await collectFacts(sources, question)
  return { verdict: verdictOf(facts), facts, story }
}
