import { describe, expect, it } from 'vitest'
import { parseApiserverConfig } from './config.ts'

describe('parseApiserverConfig', () => {
  it('takes flags before the environment and has a default for everything', () => {
    expect(parseApiserverConfig({}, {})).toEqual({
      dataDir: '.causeway/apiserver',
      host: '127.0.0.1',
      port: 0,
      clusters: { host: {} },
      logLevel: 'info',
    })
    const config = parseApiserverConfig(
      { port: '1', clusters: 'host,a:open' },
      { APISERVER_PORT: '2', APISERVER_HOST: 'h' },
    )
    expect(config).toMatchObject({ port: 1, host: 'h', clusters: { host: {}, a: { serviceClusterIP: 'open' } } })
  })

  it('names everything that is wrong', () => {
    expect(() => parseApiserverConfig({ port: '70000', 'log-level': 'loud', clusters: 'a:shut' }, {})).toThrow(
      /--port.*\n--log-level.*\n--clusters/,
    )
  })
})
