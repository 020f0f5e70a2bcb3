import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { distributionMirrors, parseDeb822Format, parseListFormat } from '../deploy/lib/apt-sources.mjs'
import { withLock } from '../deploy/lib/lock.mjs'
import { isInstalled } from '../deploy/lib/node-modules.mjs'
import { compareVersions, isAtLeast, parseVersion } from '../deploy/lib/versions.mjs'

describe('apt sources', () => {
  test('reads one-line entries with and without options', () => {
    const text = `
# deb http://commented.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] http://mirror.example/debian bookworm main contrib # note
deb-src http://mirror.example/debian bookworm main
deb mirror+file:/etc/apt/mirrors.txt trixie main
`
    expect(parseListFormat(text)).toEqual([
      {
        types: ['deb'],
        uris: ['http://mirror.example/debian'],
        suites: ['bookworm'],
        components: ['main', 'contrib'],
        signedBy: '/usr/share/keyrings/a.gpg',
      },
      { types: ['deb-src'], uris: ['http://mirror.example/debian'], suites: ['bookworm'], components: ['main'] },
      { types: ['deb'], uris: ['mirror+file:/etc/apt/mirrors.txt'], suites: ['trixie'], components: ['main'] },
    ])
  })

  test('reads deb822 stanzas with comments inside, continued fields and disabled ones', () => {
    const text = `Types: deb deb-src
# http://snapshot.example
URIs: http://one.example/debian
 http://two.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/a.gpg

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb
URIs: http://three.example/debian
Suites: sid
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
`
    const sources = parseDeb822Format(text)
    expect(sources.map((source) => source.uris)).toEqual([
      ['http://one.example/debian', 'http://two.example/debian'],
      ['http://three.example/debian'],
    ])
    expect(sources[0]).toMatchObject({ types: ['deb', 'deb-src'], suites: ['bookworm', 'bookworm-updates'] })
    expect(sources[1]?.signedBy).toBe('\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc')
  })

  test('takes the mirrors of the running release, once each, and neither security updates nor third parties', () => {
    const sources = parseListFormat(`
deb http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm-updates main
deb http://mirror.example/debian-security bookworm-security main
deb http://vendor.example/apt nodistro main
deb http://partner.example/debian bookworm partner
deb-src http://source.example/debian bookworm main
`)
    expect(distributionMirrors(sources, 'bookworm')).toEqual([
      { uri: 'http://mirror.example/debian', components: ['main'] },
    ])
  })
})

describe('versions', () => {
  test('finds the version in what a program prints', () => {
    expect(parseVersion('nats-server: v2.15.1')).toEqual([2, 15, 1])
    expect(parseVersion('v24.12.0\n')).toEqual([24, 12, 0])
    expect(parseVersion('unknown')).toBeUndefined()
  })

  test('compares by number, not by text', () => {
    expect(isAtLeast('nats-server: v2.9.10', '2.11.0')).toBe(false)
    expect(isAtLeast('2.11', '2.11.0')).toBe(true)
    expect(isAtLeast('nonsense', '0.0.1')).toBe(false)
    expect(['2.9.1', '2.15.1', '2.11.3'].toSorted(compareVersions)).toEqual(['2.9.1', '2.11.3', '2.15.1'])
  })
})

describe('installed packages', () => {
  const wanted = {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/for-another-platform': { version: '1.0.0', integrity: 'y', optional: true },
  }

  test('are complete when only optional ones are absent', () => {
    expect(isInstalled(wanted, { 'node_modules/a': { version: '1.0.0', integrity: 'x' } })).toBe(true)
  })

  test('are incomplete when one is missing or of another version', () => {
    expect(isInstalled(wanted, {})).toBe(false)
    expect(isInstalled(wanted, { 'node_modules/a': { version: '1.0.1', integrity: 'x' } })).toBe(false)
  })
})

test('work under one lock never overlaps, and the lock is free again after a failure', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-lock-'))
  const lock = join(folder, 'lock')
  let running = 0
  const work = async (): Promise<number> => {
    running += 1
    const seen = running
    await new Promise(setImmediate)
    running -= 1
    return seen
  }
  try {
    await expect(withLock(lock, () => Promise.reject(new Error('boom')))).rejects.toThrow('boom')
    expect(await Promise.all([withLock(lock, work), withLock(lock, work)])).toEqual([1, 1])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
