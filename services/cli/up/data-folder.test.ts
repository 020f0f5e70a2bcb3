import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DataFolder, type RunningInfo } from './data-folder.ts'
import { processStart } from './process-start.ts'

let root: string
let folder: DataFolder

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'causeway-folder-'))
  folder = new DataFolder(join(root, 'data'))
  folder.claim()
})

afterEach(() => rmSync(root, { recursive: true }))

/** No process has it: the largest pid there can be. */
const DEAD_PID = 4_194_304
const info = (pid: number): RunningInfo => ({
  pid,
  natsUrl: 'nats://127.0.0.1:1',
  hostKubeconfig: 'h.yaml',
  replicas: 1,
  partitions: 8,
  processes: {},
})

test('is made when it is claimed, and not by who only asks', () => {
  const asked = new DataFolder(join(root, 'nowhere'))
  expect(asked.running()).toBeUndefined()
  expect(existsSync(asked.root)).toBe(false)
})

test('says that a file is no folder', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => new DataFolder(join(root, 'file')).claim()).toThrow(/--data .*\/file: no folder that can be written to/)
})

test('is readable by its owner alone', () => {
  expect(statSync(folder.root).mode & 0o077).toBe(0)
})

test('is used by one process at a time, and free again when that is gone', () => {
  writeFileSync(folder.path('up.pid'), JSON.stringify({ pid: process.ppid }))
  expect(() => folder.claim()).toThrow(new RegExp(`in use by process ${process.ppid}.*--data`))
  writeFileSync(folder.path('up.pid'), JSON.stringify({ pid: DEAD_PID }))
  folder.claim()
  folder.claim()
})

test('is free where the pid of the one that used it is another process’s by now', () => {
  const started = 'before the machine was started again'
  writeFileSync(folder.path('up.pid'), JSON.stringify({ pid: process.ppid, started }))
  folder.claim()
  writeFileSync(folder.path('running.json'), JSON.stringify({ ...info(process.ppid), started }))
  expect(folder.running()).toBeUndefined()
  folder.storeRunning(info(process.ppid))
  expect(folder.running()).toEqual(info(process.ppid))
  writeFileSync(folder.path('up.pid'), JSON.stringify({ pid: process.ppid, started: processStart(process.ppid) }))
  expect(() => folder.claim()).toThrow(/in use by process/)
})

test('a process has one start, and another one has another', () => {
  expect(processStart(process.pid)).toBe(processStart(process.pid))
  expect(processStart(process.pid)).not.toBe(processStart(process.ppid))
  expect(processStart(DEAD_PID)).toBeUndefined()
})

test('tells what runs on it only while it runs', () => {
  expect(folder.running()).toBeUndefined()
  folder.storeRunning(info(process.pid))
  expect(folder.running()).toEqual(info(process.pid))
  folder.storeRunning(info(DEAD_PID))
  expect(folder.running()).toBeUndefined()
  folder.storeRunning(info(process.pid))
  folder.release()
  expect(folder.running()).toBeUndefined()
})

test('a file that a crash has left half written counts as none', () => {
  folder.storePorts({ nats: 4 })
  expect(folder.ports()).toEqual({ nats: 4 })
  writeFileSync(folder.path('ports.json'), '{"nats":')
  expect(folder.ports()).toEqual({})
})
