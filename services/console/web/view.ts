import type { TemplateResult } from 'lit-html'
import type { FleetView } from '../views.ts'
import type { Place } from './place.ts'

/** What every view is given. */
export type ViewContext = {
  place: Place
  /** Aborts when the view is left. */
  signal: AbortSignal
  /** How it stands with the fleet, as last told. */
  fleet(): FleetView | undefined
  /** The present time, ms since the epoch: the server's, as far as it is known. */
  now(): number
  /** Draws the page again, soon. */
  update(): void
  /** Has something done as an operator; asks for the token first where there is none yet. */
  operate(act: (token: string) => Promise<string>): void
}

/** One view of the page. */
export type View = {
  title: string
  render(): TemplateResult
  /** Told of every news of the fleet. */
  onFleet?(): void
  /** The place has changed, but not what the view is about: the query of its address. @returns whether that is enough */
  onPlace?(place: Place): boolean
}
