import { afterAll, beforeAll, describe } from 'vitest'
import { type Clusters, startClusters } from '../harness/clusters.ts'
import { type Installation, startUp } from '../harness/installation.ts'
import { MODES, type SidesView, openView, upOptionsFor } from '../harness/world.ts'
import { configurationTests } from './suites/configuration.ts'
import { nodeModelTests } from './suites/node-models.ts'
import { twoWayTests } from './suites/two-way.ts'

/** The sides, with an installation that tests may stop and start again. */
export type Restartable = SidesView & { up: Installation; separate: boolean }

let clusters: Clusters
let sides: SidesView
beforeAll(async () => {
  clusters = await startClusters()
  sides = await openView({ host: clusters.hostKubeconfig, tenants: clusters.tenants })
})
afterAll(async () => {
  await sides?.close()
  await clusters?.stop()
})

describe.each(MODES)('$mode', ({ separate }) => {
  let world: Restartable
  beforeAll(async () => {
    world = { ...sides, separate, up: await startUp({ separate, ...upOptionsFor(clusters) }) }
  })
  afterAll(async () => {
    if (world !== undefined) await sides.clean()
    await world?.up.dispose()
  })

  const current = (): Restartable => world
  describe('configuration', () => {
    configurationTests(current)
  })
  describe('node models', () => {
    nodeModelTests(current)
  })
  describe('fields that both sides may change', () => {
    twoWayTests(current)
  })
})
