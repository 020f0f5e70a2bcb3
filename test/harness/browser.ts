import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Page, chromium } from 'playwright-core'

/** Where Debian's package puts it. */
const CHROMIUM = process.env['CAUSEWAY_E2E_CHROMIUM'] ?? '/usr/bin/chromium'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Containers have little of it.
  '--disable-dev-shm-usage',
]

/** Why tests in a browser cannot run here; `undefined` when they can. */
export const browserMissing = existsSync(CHROMIUM)
  ? undefined
  : `no Chromium at ${CHROMIUM}: install Debian's package chromium, or name another in CAUSEWAY_E2E_CHROMIUM`

/** A page of a browser without any profile. */
export type Browser = {
  page: Page
  /** What the page has complained about so far: errors in its console, exceptions, refused requests. */
  complaints: string[]
  /** Bytes that came over the wire so far, as they were packed. */
  received(): number
  close(): Promise<void>
}

export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'causeway-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    viewport: { width: 1400, height: 900 },
  })
  const page = context.pages()[0] ?? (await context.newPage())
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  const wire = await context.newCDPSession(page)
  await wire.send('Network.enable')
  let received = 0
  wire.on('Network.loadingFinished', ({ encodedDataLength }) => {
    received += encodedDataLength
  })
  wire.on('Network.dataReceived', ({ encodedDataLength, dataLength, requestId: _of }) => {
    // Of what never ends, such as a stream of events, no end tells the length.
    if (encodedDataLength === 0) received += dataLength
  })
  return {
    page,
    complaints,
    received: () => received,
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
