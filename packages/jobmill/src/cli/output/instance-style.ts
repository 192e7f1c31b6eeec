/** The color of an instance by its state. */
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { Style } from './terminal.ts'

export const INSTANCE_STYLE: Readonly<Record<InstanceRecord['state'], Style>> = {
  alive: 'green',
  expired: 'yellow',
  lost: 'red',
  stopped: 'gray',
}
