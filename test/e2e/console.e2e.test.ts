import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectBus, ensureStreams } from '#libs/bus'
import { startTestNats } from '#libs/bus/testing'
import { parsePipelineConfig } from '#libs/config'
import { streamDeclarations } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { openTenantDirectory, openTenantRegistry } from '#libs/runtime'
import { createLogger, createRegistry } from '#libs/telemetry'
import { createVault, loadOrCreateKeyRing } from '#libs/vault'
import { startConsole } from '../../services/console/role.ts'
import { type Browser, browserMissing, openBrowser } from '../harness/browser.ts'
import { type Cluster, openCluster } from '../harness/cluster.ts'
import { type Installation, newFolder, startUp } from '../harness/installation.ts'
import { isRunning, podOf, secretOf } from '../harness/objects.ts'

/* The console in a real browser: each view, by keyboard, in light and dark, small, and with 10,000 tenants. */

const TOKEN = 'a-token-of-an-operator'
const HOST_NAMESPACE = 'causeway-a'
const WAIT = 30_000
const MOST_BYTES = 300_000
/** Folder for pictures of what was seen, for people to look at. */
const PICTURES = process.env['CAUSEWAY_E2E_PICTURES']

if (browserMissing !== undefined) process.stderr.write(`the console is not tested in a browser: ${browserMissing}\n`)

let browser: Browser
const closing: (() => unknown)[] = []

async function picture(name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  await browser.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
}

const backColor = (): Promise<string> => browser.page.evaluate('getComputedStyle(document.body).backgroundColor')
const elements = (): Promise<number> => browser.page.evaluate('document.querySelectorAll("*").length')

describe.skipIf(browserMissing !== undefined)('the console in a browser', () => {
  let up: Installation
  let tenant: Cluster
  let host: Cluster
  let url: string

  beforeAll(async () => {
    const folder = newFolder()
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, `${TOKEN}\n`)
    const args = ['--console-token-file', tokenFile]
    up = await startUp({ separate: false, tenants: ['a'], console: true, args })
    closing.push(() => up.dispose())
    url = (up.ready as { consoleUrl?: string }).consoleUrl ?? ''
    tenant = await openCluster(up.ready.kubeconfigs['a'] ?? '')
    host = await openCluster(up.ready.hostKubeconfig)
    closing.push(() => Promise.all([tenant.close(), host.close()]))
    await tenant.create(secretOf('default', 'login', { password: 'hunter2' }))
    await tenant.create(podOf('default', 'web', { secret: 'login' }))
    await tenant.until('pods', { namespace: 'default', name: 'web' }, isRunning)
    const path = `/api/v1/namespaces/${HOST_NAMESPACE}/resourcequotas`
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: HOST_NAMESPACE, name: 'few' } }
    await host.client.request({ method: 'POST', path, body: { ...quota, spec: { hard: { services: '0' } } } })
    await tenant.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: 'many' },
      spec: { selector: { app: 'many' }, ports: [{ port: 80 }] },
    })
    browser = await openBrowser()
    closing.push(() => browser.close())
    browser.page.setDefaultTimeout(WAIT)
  })

  afterAll(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  test('shows the fleet, in light and dark, from little that is loaded', async () => {
    const { page } = browser
    await page.goto(url)
    await page.getByRole('option', { name: /^a\b/ }).waitFor()
    await page.locator('.heat-map .heat:not(.none)').first().waitFor()
    await page.getByText('QuotaExceeded').first().waitFor()
    expect(browser.received()).toBeGreaterThan(10_000)
    expect(browser.received()).toBeLessThan(MOST_BYTES)
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await backColor()
    await picture('fleet-light')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await backColor()).not.toBe(light)
    await picture('fleet-dark')
  })

  test('leads by keyboard from the fleet to an object’s story', async () => {
    const { page } = browser
    await page.keyboard.press('/')
    await page.keyboard.type('a')
    await page.keyboard.press('Escape')
    await page.getByRole('listbox', { name: 'Tenants' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'a', exact: true }).waitFor()
    await picture('tenant')
    await page.keyboard.press('/')
    await page.keyboard.type('web')
    await page.getByRole('option', { name: /default\/web/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('listbox', { name: 'Objects of a' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'pods default/web' }).waitFor()
    expect(page.url()).toContain('#/object/a/pods/default/web')
  })

  test('tells an object’s story: the answer of why, the timeline, both sides, the traces', async () => {
    const { page } = browser
    await page.locator('.card', { hasText: 'InSync' }).waitFor()
    await page.locator('.timeline li').first().waitFor()
    await page.locator('.sides td', { hasText: 'causeway.dev/tenant: a' }).waitFor()
    await page.locator('.waterfall rect.writer').first().waitFor()
    await picture('object')
    const first = page.locator('.timeline button.entry').first()
    await first.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Both sides at/ }).waitFor()
    await page.locator('.sides th', { hasText: 'not there' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.locator('.entry.chosen').count()).toBe(1)
    await page.getByRole('button', { name: 'now', exact: true }).click()
    await page.getByRole('heading', { name: 'Both sides now' }).waitFor()
  })

  test('adds to the story what happens', async () => {
    const { page } = browser
    await tenant.patch('pods', { namespace: 'default', name: 'web' }, { metadata: { labels: { tier: 'live' } } })
    await page.locator('.timeline code', { hasText: 'metadata.labels' }).first().waitFor()
    await expect.poll(() => page.locator('.sides td', { hasText: 'tier: live' }).count(), { timeout: WAIT }).toBe(2)
  })

  test('shows of a Secret no value', async () => {
    const { page } = browser
    await page.goto(`${url}/#/object/a/secrets/default/login`)
    await page
      .locator('.sides td', { hasText: /password: <7 bytes, / })
      .first()
      .waitFor()
    expect(await page.content()).not.toMatch(/hunter2|aHVudGVyMg/)
  })

  test('leads from a copy on the host to whose it is', async () => {
    const { page } = browser
    await page.goto(`${url}/#/objects?tenant=a&side=host&search=web`)
    await page.getByRole('option', { name: /web-x-default-x-a/ }).click()
    await page.getByRole('heading', { name: 'pods default/web' }).waitFor()
    expect(page.url()).toContain('#/object/a/pods/default/web')
  })

  test('lists what waits, and has it tried again for an operator alone', async () => {
    const { page } = browser
    await page.keyboard.press('3')
    const row = page.getByRole('row', { name: /many/ })
    await row.getByText('QuotaExceeded').waitFor()
    await picture('waiting')
    await row.getByRole('button', { name: 'retry' }).click()
    const field = page.getByRole('textbox', { name: 'operator token' })
    await field.fill('a-wrong-token-that-is-long')
    await field.press('Enter')
    await page.getByRole('status').filter({ hasText: 'token is missing or wrong' }).waitFor()
    // What the browser itself says of a refused request, and nothing else so far.
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('401')])
    await host.client.request({
      method: 'DELETE',
      path: `/api/v1/namespaces/${HOST_NAMESPACE}/resourcequotas/few`,
    })
    await row.getByRole('button', { name: 'retry' }).click()
    await field.fill(TOKEN)
    await field.press('Enter')
    await page.getByRole('status').filter({ hasText: /many/ }).waitFor()
    await page.getByText('Nothing waits').waitFor()
    expect(await host.list('services', HOST_NAMESPACE)).toHaveLength(1)
  })

  test('shows what was there at a time', async () => {
    const { page } = browser
    await page.keyboard.press('4')
    await page.getByRole('textbox', { name: 'tenant' }).fill('a')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'now' }).click()
    // Only the rows that can be seen are in the page, and how many Events come before this one is a matter of time.
    await page.getByRole('searchbox', { name: 'A part of the name' }).fill('web')
    await page
      .getByRole('option', { name: /default\/web/ })
      .first()
      .waitFor()
    await picture('replay')
    await page.getByRole('button', { name: '−1 h' }).click()
    await page.getByText('Nothing is called so.').waitFor()
    expect(page.url()).toContain('at=')
  })

  test('says its keys, and has complained of nothing', async () => {
    const { page } = browser
    await page.locator('h1').first().click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    expect(browser.complaints).toEqual([])
  })
})

describe.skipIf(browserMissing !== undefined)('with 10,000 tenants', () => {
  const TENANTS = 10_000
  const ROWS = 80
  let url: string

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-e2e-'))
    const nats = await startTestNats()
    const bus = await connectBus({ servers: nats.url, name: 'test' })
    await ensureStreams(bus, streamDeclarations())
    const registry = await openTenantRegistry(bus, 1)
    await registry.setHost({ kubeconfig: join(folder, 'host.yaml') })
    const names = Array.from({ length: TENANTS }, (_, index) => `team-${String(index).padStart(5, '0')}`)
    for (let first = 0; first < TENANTS; first += 500) {
      const some = names.slice(first, first + 500)
      await Promise.all(
        some.map((name) =>
          registry.put({ name, uid: name, hostNamespace: `causeway-${name}`, kubeconfig: `/nowhere/${name}` }),
        ),
      )
    }
    const stopping = new AbortController()
    const logger = createLogger({ service: 'test', level: 'silent' })
    const directory = await openTenantDirectory({
      bus,
      replicas: 1,
      clock: systemClock,
      logger,
      signal: stopping.signal,
    })
    const vault = createVault(loadOrCreateKeyRing(join(folder, 'keys.json')))
    const metrics = createRegistry()
    const context = { bus, config: parsePipelineConfig({}), clock: systemClock, logger, vault, directory, metrics }
    const role = await startConsole(context, { host: '127.0.0.1', port: 0 })
    ;({ url } = role)
    browser = await openBrowser()
    browser.page.setDefaultTimeout(WAIT)
    closing.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => nats.stop(),
      () => bus.close(),
      () => directory.close(),
      () => stopping.abort(),
      () => role.close(),
      () => browser.close(),
    )
  })

  afterAll(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  test('only the rows that can be seen are in the page, from one end to the other, and little is loaded', async () => {
    const { page } = browser
    await page.goto(url)
    await page.getByRole('option', { name: /team-00000/ }).waitFor()
    const list = page.getByRole('listbox', { name: 'Tenants' })
    expect(await list.getByRole('option').count()).toBeLessThan(ROWS)
    await list.focus()
    await page.keyboard.press('End')
    await page.getByRole('option', { name: /team-09999/, selected: true }).waitFor()
    expect(await list.getByRole('option').count()).toBeLessThan(ROWS)
    expect(await elements()).toBeLessThan(3_000)
    await picture('many-tenants')
    await page.keyboard.press('/')
    await page.keyboard.type('team-04')
    await page.getByRole('option', { name: /team-04000/ }).waitFor()
    expect(browser.received()).toBeLessThan(MOST_BYTES)
    expect(browser.complaints).toEqual([])
  })
})
