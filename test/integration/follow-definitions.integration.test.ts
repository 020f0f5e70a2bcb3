import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, loadClusterConfig } from '#libs/kube'
import { RESOURCES } from '#libs/kube-model'
import { createLogger } from '#libs/telemetry'
import { type Apiserver, startApiserver } from '../../services/apiserver/role.ts'
import { DefinitionNews } from '../../services/watcher/definition-news.ts'
import { followDefinitions } from '../../services/watcher/follow-definitions.ts'
import { definitionOf } from '../harness/definitions.ts'

const GATEWAYS = 'gateways.gateway.networking.k8s.io'
const ROUTES = 'httproutes.gateway.networking.k8s.io'
const HOUR_MS = 3_600_000

let folder: string
let apiserver: Apiserver
let client: KubeClient
let definitions: DefinitionNews
const stop = new AbortController()
let following: Promise<void>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-definitions-'))
  const logger = createLogger({ service: 'test', level: 'silent' })
  apiserver = await startApiserver({ dataDir: folder, clusters: { host: { controllers: false } }, logger })
  const access = { path: apiserver.kubeconfigFile('host'), env: {}, clock: systemClock }
  client = createKubeClient(await loadClusterConfig(access))
  definitions = new DefinitionNews()
  const cluster = { client, definitions }
  following = followDefinitions({ cluster, clock: systemClock, random: Math.random, signal: stop.signal })
})
afterAll(async () => {
  stop.abort()
  await following
  await client.close()
  await apiserver.close()
  rmSync(folder, { recursive: true, force: true })
})

const backOff = (kind: string): Promise<void> => definitions.clock(systemClock, kind).sleep(HOUR_MS)
const define = (kind: typeof GATEWAYS | typeof ROUTES) =>
  client.create(RESOURCES['customresourcedefinitions.apiextensions.k8s.io'], {}, definitionOf(RESOURCES[kind]))

test('a watch whose kind is not served is woken when the definition comes, however long it would have slept', async () => {
  const sleeping = backOff(GATEWAYS)
  definitions.note(GATEWAYS, true)
  await define(GATEWAYS)
  await expect(sleeping).resolves.toBeUndefined()
  definitions.note(GATEWAYS, false)
})

test('a definition that came before anybody was looking for it wakes as well', async () => {
  await define(ROUTES)
  const sleeping = backOff(ROUTES)
  definitions.note(ROUTES, true)
  await expect(sleeping).resolves.toBeUndefined()
})
