import { AllocationError } from '../strategy/index.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { StrategyContext } from '../strategy/index.ts'
import type { Cluster } from './cluster.ts'
import { timestamp } from './cluster.ts'
import { NODE_PORTS } from './service-network.ts'
import type { Allocation } from './service-network.ts'

const STORAGE_CLASSES = 'storageclasses.storage.k8s.io'

const isDefaultClass = ({ object }: StoredObject): boolean =>
  object.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true'

const PRIORITY_CLASSES = 'priorityclasses.scheduling.k8s.io'

/** What strategies may take from the cluster during one write. */
export function strategyContext(cluster: Cluster): StrategyContext {
  const { network } = cluster
  // Nothing is in use before the object is stored, so one write must not take the same twice.
  const addresses = new Set<string>()
  const ports = new Set<number>()
  return {
    now: timestamp(cluster),
    serviceClusterIP: network.mode,
    storageClass: (name) =>
      name === undefined
        ? cluster.store.list(STORAGE_CLASSES).find(isDefaultClass)?.object
        : cluster.store.get(STORAGE_CLASSES, '', name)?.object,
    priorityClass: (name) =>
      name === undefined
        ? cluster.store.list(PRIORITY_CLASSES).find(({ object }) => object['globalDefault'] === true)?.object
        : cluster.store.get(PRIORITY_CLASSES, '', name)?.object,
    allocateClusterIP: (wanted) => {
      const address = take(network.address(wanted, addresses), {
        allocated: 'provided IP is already allocated',
        'out of range': 'the provided network does not match the current range',
        full: 'range is full',
      })
      addresses.add(address)
      return address
    },
    allocateNodePort: (wanted) => {
      const port = take(network.nodePort(wanted, ports), {
        allocated: 'provided port is already allocated',
        'out of range': `provided port is not in the valid range. The range of valid ports is ${NODE_PORTS.first}-${NODE_PORTS.last}`,
        full: 'range is full',
      })
      ports.add(port)
      return port
    },
  }
}

type Problem = Extract<Allocation<unknown>, { problem: unknown }>['problem']

function take<T>(allocation: Allocation<T>, messages: Record<Problem, string>): T {
  if ('problem' in allocation) throw new AllocationError(messages[allocation.problem])
  return allocation.value
}
