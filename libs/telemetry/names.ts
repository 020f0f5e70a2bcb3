/** Buckets of every latency histogram, in seconds: from a millisecond to a minute. */
export const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const

/** The stages of one sync, in order: watch event → stored in the log → decided → intent stored → write begun → answered. */
export const STAGES = ['watch', 'decide', 'log', 'queue', 'api'] as const

export type Stage = (typeof STAGES)[number]

/** A metric: name, help, labels. */
export type MetricDeclaration = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels?: readonly string[]
}

/** Every metric: name, help, labels. Label values are bounded: kinds and outcomes, never names of objects or tenants. */
export const METRICS = {
  watchEvents: {
    name: 'causeway_watcher_events_total',
    type: 'counter',
    help: 'Watch events published to the log, by side, resource and type.',
    labels: ['side', 'resource', 'type'],
  },
  watchLists: {
    name: 'causeway_watcher_lists_total',
    type: 'counter',
    help: 'Complete lists made, by side and resource.',
    labels: ['side', 'resource'],
  },
  watchErrors: {
    name: 'causeway_watcher_errors_total',
    type: 'counter',
    help: 'Failed lists and watches, by side and resource.',
    labels: ['side', 'resource'],
  },
  watchDropped: {
    name: 'causeway_watcher_dropped_total',
    type: 'counter',
    help: 'Host objects not published, by reason: unknown tenant, or a stamp outside the tenant’s namespace.',
    labels: ['reason'],
  },
  verifications: {
    name: 'causeway_watcher_verifications_total',
    type: 'counter',
    help: 'Lists that were compared with what was published, by side and resource.',
    labels: ['side', 'resource'],
  },
  watchFound: {
    name: 'causeway_watcher_found_total',
    type: 'counter',
    help: 'Objects whose state or end no watch told of, found by a list, by side and resource.',
    labels: ['side', 'resource', 'what'],
  },
  changesFolded: {
    name: 'causeway_translator_changes_total',
    type: 'counter',
    help: 'Changes folded into the projection, by side and resource.',
    labels: ['side', 'resource'],
  },
  intentsPublished: {
    name: 'causeway_translator_intents_total',
    type: 'counter',
    help: 'Intents published, by rule.',
    labels: ['rule'],
  },
  poison: {
    name: 'causeway_translator_poison_total',
    type: 'counter',
    help: 'Log messages that could not be read or decided, by stage.',
    labels: ['stage'],
  },
  repairs: {
    name: 'causeway_translator_repairs_total',
    type: 'counter',
    help: 'Intents that only the patrol found to be missing, by rule: drift that no change told of.',
    labels: ['rule'],
  },
  patrols: {
    name: 'causeway_translator_patrols_total',
    type: 'counter',
    help: 'Complete patrols: every object of a partition decided about again.',
  },
  partitionLag: {
    name: 'causeway_partition_lag_messages',
    type: 'gauge',
    help: 'Messages of the log that a role has not processed yet, by role and partition.',
    labels: ['role', 'partition'],
  },
  parked: {
    name: 'causeway_translator_parked',
    type: 'gauge',
    help: 'Objects that wait, by reason.',
    labels: ['reason'],
  },
  noted: {
    name: 'causeway_translator_noted',
    type: 'gauge',
    help: 'Objects of which nothing waits and that are kept from the host, or cannot start there, by reason.',
    labels: ['reason'],
  },
  eventsTold: {
    name: 'causeway_translator_events_total',
    type: 'counter',
    help: 'Events about their objects that tenants were to get, by reason.',
    labels: ['reason'],
  },
  copiesLost: {
    name: 'causeway_translator_copies_lost_total',
    type: 'counter',
    help: 'Copies that somebody else deleted on the host, by resource and what followed: created again, or deleted in the tenant.',
    labels: ['resource', 'result'],
  },
  kindsOff: {
    name: 'causeway_translator_kinds_off',
    type: 'gauge',
    help: 'Tenants of the process whose configuration keeps objects of a kind in the tenant, by resource.',
    labels: ['resource'],
  },
  unanswered: {
    name: 'causeway_translator_unanswered_seconds',
    type: 'gauge',
    help: 'How long the oldest intent has been waiting for a writer to say what became of it.',
  },
  partitionsUnowned: {
    name: 'causeway_partitions_unowned',
    type: 'gauge',
    help: 'Partitions that nobody works on, by role.',
    labels: ['role'],
  },
  traceSpans: {
    name: 'causeway_trace_spans_total',
    type: 'counter',
    help: 'Spans for the OTLP endpoint: exported, failed to be taken there, or dropped for lack of room.',
    labels: ['result'],
  },
  tenantWaiting: {
    name: 'causeway_tenant_waiting_objects',
    type: 'gauge',
    help: 'Objects that wait, of the 20 tenants of the process of which most do.',
    labels: ['tenant'],
  },
  tenantHeld: {
    name: 'causeway_tenant_held_intents',
    type: 'gauge',
    help: 'Intents read and not settled, of the 20 tenants of the process that have most.',
    labels: ['tenant'],
  },
  tenantUnwatched: {
    name: 'causeway_tenant_unwatched_kinds',
    type: 'gauge',
    help: 'Kinds of a tenant whose watch is not in order, of the 20 tenants of the process that have most.',
    labels: ['tenant'],
  },
  deletionsHeld: {
    name: 'causeway_translator_deletions_held',
    type: 'gauge',
    help: 'Tenants whose deletions are stopped, since very many of their objects vanished at once.',
  },
  watchesInState: {
    name: 'causeway_watcher_watches',
    type: 'gauge',
    help: 'Watches of this process, by side and state.',
    labels: ['side', 'state'],
  },
  outcomes: {
    name: 'causeway_writer_outcomes_total',
    type: 'counter',
    help: 'Intents settled, by side, resource, write, result and reason.',
    labels: ['side', 'resource', 'op', 'result', 'reason'],
  },
  writes: {
    name: 'causeway_writer_write_seconds',
    type: 'histogram',
    help: 'Duration of one call to an API, successful or not, by side, resource and write.',
    labels: ['side', 'resource', 'op'],
  },
  writeRetries: {
    name: 'causeway_writer_retries_total',
    type: 'counter',
    help: 'Attempts that will be repeated, by side and cause.',
    labels: ['side', 'cause'],
  },
  writesQueued: {
    name: 'causeway_writer_queue_depth',
    type: 'gauge',
    help: 'Intents that wait for their turn at an API, by side and urgency.',
    labels: ['side', 'urgency'],
  },
  intentsHeld: {
    name: 'causeway_writer_held_intents',
    type: 'gauge',
    help: 'Intents read and not settled.',
  },
  writesInFlight: {
    name: 'causeway_writer_in_flight',
    type: 'gauge',
    help: 'Calls under way, by side.',
    labels: ['side'],
  },
  writeLimit: {
    name: 'causeway_writer_concurrency_limit',
    type: 'gauge',
    help: 'Calls allowed at once: to the host’s API, and to the tenant’s API that allows fewest.',
    labels: ['side'],
  },
  apisDown: {
    name: 'causeway_writer_apis_down',
    type: 'gauge',
    help: 'API servers that do not answer, by side.',
    labels: ['side'],
  },
  nodeHeartbeats: {
    name: 'causeway_writer_node_heartbeats_total',
    type: 'counter',
    help: 'Renewals of the leases of virtual nodes, by result.',
    labels: ['result'],
  },
  podTokens: {
    name: 'causeway_writer_pod_tokens_total',
    type: 'counter',
    help: 'Secrets with tokens of pods that were due, by what became of them.',
    labels: ['result'],
  },
  securityRefusals: {
    name: 'causeway_writer_security_refusals_total',
    type: 'counter',
    help: 'Writes refused because they would leave the bounds of their tenant. Anything but 0 needs a look.',
    labels: ['side'],
  },
  consoleRequests: {
    name: 'causeway_console_request_seconds',
    type: 'histogram',
    help: 'Time that the console took to answer, by operation of its API and status class.',
    labels: ['op', 'result'],
  },
  consoleListeners: {
    name: 'causeway_console_listeners',
    type: 'gauge',
    help: 'Pages that listen to the console at this moment.',
  },
  syncStages: {
    name: 'causeway_sync_stage_seconds',
    type: 'histogram',
    help: 'Time that done writes took, by stage (watch, decide, log, queue, api), direction and resource.',
    labels: ['stage', 'direction', 'resource'],
  },
  syncs: {
    name: 'causeway_sync_seconds',
    type: 'histogram',
    help: 'Time from the watch event to the API’s answer, of done writes, by direction and resource.',
    labels: ['direction', 'resource'],
  },
} as const satisfies Record<string, MetricDeclaration>
