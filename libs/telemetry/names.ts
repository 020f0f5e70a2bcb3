/** Buckets of every latency histogram, in seconds: from a millisecond to a minute. */
export const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const

/** The stages of one sync, in order: watch event → stored in the log → decided → intent stored → write begun → answered. */
export const STAGES = ['watch', 'decide', 'log', 'queue', 'api'] as const

export type Stage = (typeof STAGES)[number]

/** Every metric: name, help, labels. Label values are bounded: kinds and outcomes, never names of objects or tenants. */
export const METRICS = {
  watchEvents: {
    name: 'causeway_watcher_events_total',
    help: 'Watch events published to the log, by side, resource and type.',
    labels: ['side', 'resource', 'type'],
  },
  watchLists: {
    name: 'causeway_watcher_lists_total',
    help: 'Complete lists made, by side and resource.',
    labels: ['side', 'resource'],
  },
  watchErrors: {
    name: 'causeway_watcher_errors_total',
    help: 'Failed lists and watches, by side and resource.',
    labels: ['side', 'resource'],
  },
  watchDropped: {
    name: 'causeway_watcher_dropped_total',
    help: 'Host objects not published, by reason: unknown tenant, or a stamp outside the tenant’s namespace.',
    labels: ['reason'],
  },
  verifications: {
    name: 'causeway_watcher_verifications_total',
    help: 'Lists that were compared with what was published, by side and resource.',
    labels: ['side', 'resource'],
  },
  watchFound: {
    name: 'causeway_watcher_found_total',
    help: 'Objects whose state or end no watch told of, found by a list, by side and resource.',
    labels: ['side', 'resource', 'what'],
  },
  changesFolded: {
    name: 'causeway_translator_changes_total',
    help: 'Changes folded into the projection, by side and resource.',
    labels: ['side', 'resource'],
  },
  intentsPublished: {
    name: 'causeway_translator_intents_total',
    help: 'Intents published, by rule.',
    labels: ['rule'],
  },
  poison: {
    name: 'causeway_translator_poison_total',
    help: 'Log messages that could not be read or decided, by stage.',
    labels: ['stage'],
  },
  repairs: {
    name: 'causeway_translator_repairs_total',
    help: 'Intents that only the patrol found to be missing, by rule: drift that no change told of.',
    labels: ['rule'],
  },
  patrols: {
    name: 'causeway_translator_patrols_total',
    help: 'Complete patrols: every object of a partition decided about again.',
  },
  partitionLag: {
    name: 'causeway_partition_lag_messages',
    help: 'Messages of the log that a role has not processed yet, by role and partition.',
    labels: ['role', 'partition'],
  },
  parked: {
    name: 'causeway_translator_parked',
    help: 'Objects that wait, by reason.',
    labels: ['reason'],
  },
  traceSpans: {
    name: 'causeway_trace_spans_total',
    help: 'Spans for the OTLP endpoint: exported, failed to be taken there, or dropped for lack of room.',
    labels: ['result'],
  },
  deletionsHeld: {
    name: 'causeway_translator_deletions_held',
    help: 'Tenants whose deletions are stopped, since very many of their objects vanished at once.',
  },
} as const
