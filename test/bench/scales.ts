/** How large each scenario is. */
export type Scale = {
  /** Runs of each scenario, each with a baseline before it where there is one. */
  repeat: number
  tricklePods: number
  /** Pods per second. */
  trickleRate: number
  /** Bursts: so many tenants make so many pods each. */
  bursts: BurstShape[]
  /** Pods before anything is measured. */
  warmupPods: number
  /** Embedded tenants of the scenarios between tenants, where none are given. */
  embedded: number
  /** ConfigMaps that change in each tenant, and how many changes there are in all, and per second. */
  churnMaps: number
  churnChanges: number
  churnRate: number
  /** Pods whose status changes, and how often each. */
  stormPods: number
  stormRounds: number
  /** Pods of each greedy tenant, and of each regular one. */
  greedyPods: number
  regularPods: number
  restartPods: number
  seeingPods: number
  /** Objects of the tenant that is patrolled. */
  patrolObjects: number
  replayMessages: number
  /** Pods in the log that one translator, and then two, work through. */
  translatorsPods: number
  fleetTenants: number
  /** How long a fleet is left alone before it is measured, and while it is. */
  fleetRestSeconds: number
  soakMinutes: number
  /** Pods that come, and go, in a second, over all tenants, and how many of each tenant are there at once. */
  soakRate: number
  soakAlive: number
}

export type BurstShape = { tenants: number; pods: number }

/** What a machine with two cores does in some minutes. */
export const USUAL: Scale = {
  repeat: 3,
  tricklePods: 100,
  trickleRate: 10,
  bursts: [
    { tenants: 1, pods: 500 },
    { tenants: 20, pods: 25 },
  ],
  warmupPods: 200,
  embedded: 5,
  churnMaps: 20,
  churnChanges: 500,
  churnRate: 50,
  stormPods: 100,
  stormRounds: 20,
  greedyPods: 100,
  regularPods: 10,
  restartPods: 2_000,
  seeingPods: 300,
  patrolObjects: 10_000,
  replayMessages: 120_000,
  translatorsPods: 20_000,
  fleetTenants: 100,
  fleetRestSeconds: 15,
  soakMinutes: 30,
  soakRate: 20,
  soakAlive: 50,
}

/** What the aims are stated for; takes an hour and more. */
export const FULL: Scale = {
  ...USUAL,
  bursts: [...USUAL.bursts, { tenants: 100, pods: 100 }],
  embedded: 50,
  greedyPods: 900,
  restartPods: 10_000,
  replayMessages: 1_000_000,
  fleetTenants: 1_000,
}

/** Whether each scenario runs at all; its figures mean nothing. */
export const SMOKE: Scale = {
  repeat: 1,
  tricklePods: 3,
  trickleRate: 10,
  bursts: [{ tenants: 2, pods: 3 }],
  warmupPods: 2,
  embedded: 2,
  churnMaps: 2,
  churnChanges: 6,
  churnRate: 50,
  stormPods: 4,
  stormRounds: 2,
  greedyPods: 4,
  regularPods: 1,
  restartPods: 10,
  seeingPods: 3,
  patrolObjects: 100,
  replayMessages: 600,
  translatorsPods: 64,
  fleetTenants: 4,
  fleetRestSeconds: 1,
  soakMinutes: 1,
  soakRate: 2,
  soakAlive: 5,
}
