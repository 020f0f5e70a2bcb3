export { MARKER_NAME, changeMessageId, decodeChange, encodeChange, markersFilter } from './change.ts'
export type { Change, ChangeType, LoggedChange } from './change.ts'
export { decodeIntent, encodeIntent, writeName } from './intent.ts'
export type {
  Agreement,
  DeleteProof,
  Intent,
  LoggedIntent,
  PatchType,
  PodTokens,
  SidedRef,
  Subresource,
  Write,
  WriteName,
} from './intent.ts'
export { REASONS, decodeOutcome, encodeOutcome } from './outcome.ts'
export type { LoggedOutcome, Outcome, OutcomeResult, Reason } from './outcome.ts'
export { ALL_PARTITIONS, partitionOf } from './partition.ts'
export type { Partition } from './partition.ts'
export { STREAMS, streamDeclarations, tombstoneTtl } from './streams.ts'
export type { StreamDeclaration, StreamName, StreamOptions } from './streams.ts'
export {
  fleetFilter,
  parseSubject,
  partitionFilter,
  partitionFilters,
  recordFilter,
  resourceFilter,
  subjectFor,
  tenantFilter,
} from './subjects.ts'
export type { ParsedSubject, RecordType } from './subjects.ts'

export { EnvelopeError, HEADERS, encodePayload, parsePayload } from './wire.ts'
export type { LogMessage, WireMessage } from './wire.ts'
