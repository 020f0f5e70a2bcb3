import { describe, expect, test } from 'vitest'
import { parsePeak, parseStat, readUsage, usageBetween } from './processes.ts'

describe('what a process has used', () => {
  test('is read whatever its command is called', () => {
    const stat = '4242 (a) b (c) S 1 4242 4242 0 -1 4194560 5000 0 3 0 150 25 0 0 20 0 11 0 900 1000 200'
    expect(parseStat(stat)).toBe(1.75)
  })

  test('has its peak in MB', () => {
    expect(parsePeak('VmPeak:\t  999 kB\nVmHWM:\t   204800 kB\nVmRSS:\t  1 kB\n')).toBe(200)
  })

  test('is CPU of the time between and memory at its end', () => {
    const before = new Map([['nats', { cpuSeconds: 1, peakMegabytes: 10 }]])
    const after = new Map([
      ['nats', { cpuSeconds: 3.5, peakMegabytes: 12 }],
      ['new', { cpuSeconds: 0.5, peakMegabytes: 5 }],
    ])
    expect(Object.fromEntries(usageBetween(before, after))).toEqual({
      nats: { cpuSeconds: 2.5, peakMegabytes: 12 },
      new: { cpuSeconds: 0.5, peakMegabytes: 5 },
    })
  })

  test('is left out for one that has ended', () => {
    expect(readUsage({ nobody: 2 ** 30 }).size).toBe(0)
  })
})
