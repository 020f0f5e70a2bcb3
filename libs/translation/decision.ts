import type { Reason, SidedRef, Write } from '#libs/events'
import type { JsonObject, ObjectRef } from '#libs/kube-model'

/** What follows from a view. */
export type Decision =
  | {
      kind: 'write'
      target: SidedRef
      write: Write
      /** The rule that led to it: one of {@link RULES}. */
      rule: Rule
      /** Targets whose earlier writes must be settled first. */
      needs: SidedRef[]
      /**
       * What both sides agree on once the write is done; becomes `View.base`. A write with a base says what the two
       * sides' differences mean, so there is one at a time for a key: the next is not to be made before the echo of the
       * one before is in. Otherwise a side that merely lags behind looks as if somebody had changed it back.
       */
      base?: JsonObject
      /** Paths that both sides have changed since they last agreed, and at which this write puts the tenant's value. */
      overruled?: string[]
    }
  /** Nothing yet: something this depends on is expected any moment. Decided again when it comes, or after `limitMs`. */
  | { kind: 'wait'; refs: ObjectRef[]; limitMs: number }
  /** This cannot cross; the tenant is told. */
  | { kind: 'reject'; reason: Reason; message: string }

/** The rules of deciding, by name: what `why` and the intents' `rule` field quote. */
export const RULES = {
  create: 'wanted on the host and not there',
  update: 'the host copy differs from what the tenant asks for',
  statusBack: 'the host copy has a status that the tenant does not see',
  fieldsBack: 'the host set fields that the tenant must see',
  restamped: 'somebody changed the stamps of a copy',
  replace: 'the tenant sees values that are not those of the host and cannot be changed: its object is made anew',
  bind: 'the host scheduled the pod',
  moved: 'the host runs the copy on another node than the tenant sees',
  mirror: 'a host object that the tenant needs to see',
  mirrorUnused: 'a mirrored host object that nothing of the tenant uses any more',
  mirrorGone: 'the host object that the tenant sees a copy of is gone',
  unselected: 'the configuration does not show the tenant this host object any more',
  virtualTerminating: 'the tenant is deleting the object',
  virtualGone: 'the tenant deleted the object',
  virtualReplaced: 'the tenant deleted the object and made a new one of the same name',
  virtualNeverSeen: 'a host copy without an object of the tenant',
  unused: 'nothing of the tenant uses the object any more',
  disabled: 'the configuration does not let objects of the kind cross',
  rejected: 'the object can no longer cross as it is',
  excluded: 'the tenant excludes the object, or it never crosses',
  handedOver: 'what the host made for another copy has the name of this one',
  hostTerminating: 'the host is deleting the copy',
  hostGone: 'the host copy is gone',
} as const

export type Rule = keyof typeof RULES
