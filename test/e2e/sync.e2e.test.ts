import { afterAll, beforeAll, describe } from 'vitest'
import { MODES, type World, openWorld } from '../harness/world.ts'
import { controllerTests } from './suites/controllers.ts'
import { deletionTests } from './suites/deletion.ts'
import { foreignObjectTests } from './suites/foreign-objects.ts'
import { podTests } from './suites/pods.ts'
import { referenceTests } from './suites/references.ts'
import { secrecyTests } from './suites/secrecy.ts'
import { serviceTests } from './suites/services.ts'

describe.each(MODES)('$mode', ({ separate }) => {
  let world: World
  beforeAll(async () => {
    world = await openWorld({ separate })
  })
  afterAll(() => world?.close())

  const current = (): World => world
  describe('pods', () => {
    podTests(current)
  })
  describe('ConfigMaps and Secrets', () => {
    referenceTests(current)
  })
  describe('deletion', () => {
    deletionTests(current)
  })
  describe('objects that are not ours', () => {
    foreignObjectTests(current)
  })
  describe('secrecy', () => {
    secrecyTests(current)
  })
  describe('services', () => {
    serviceTests(current)
  })
  describe('controllers of the tenant', () => {
    controllerTests(current)
  })
})
