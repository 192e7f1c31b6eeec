/** The part of the platform that runs anywhere: in a browser, at the edge and in Node. */
import type { Platform } from './platform.ts'

export type WebPlatform = Pick<Platform, 'monotonic' | 'random' | 'id' | 'timer'>

export const webPlatform: WebPlatform = {
  monotonic: () => performance.now(),
  random: () => Math.random(),
  /** UUID version 7. Ids of the same millisecond are in no order. */
  id() {
    const random = Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('')
    const time = Date.now().toString(16).padStart(12, '0')
    // The first two bits encode the UUID variant.
    const variant = '89ab'[Number.parseInt(random[3] ?? '0', 16) % 4] ?? '8'
    const head = `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}`
    return `${head}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
  },
  timer(ms, task) {
    const handle = setTimeout(task, ms)
    return { cancel: () => clearTimeout(handle) }
  },
}
