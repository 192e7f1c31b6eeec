/**
 * A gateway in a child process. `STANDS` lists fault points and chats. Each listed chat blocks at its point,
 * and when all are blocked the process is killed: one crash covers all points. Prints `ready` when it
 * listens.
 */
import { mkdirSync } from 'node:fs'
import { readConfig, startGateway } from 'jobmill-telegram'

const { YAML = '', LEASE_MS = '60000', STANDS = '[]', LOGS_OUT = '[]' } = process.env
const { config, problems } = readConfig({ yaml: YAML, env: process.env, handlers: ['moody'] })
if (config === null) throw new Error(JSON.stringify(problems))
const missing = new Set(JSON.parse(STANDS) as string[])
const stands = new Set(missing)
/** Users whose session ends as soon as their job begins. */
const logsOut = new Set(JSON.parse(LOGS_OUT) as number[])

/**
 * Blocks the first process that gets here, synchronously and between two steps, so that it holds no database
 * lock.
 */
function standStillFirst(folder: string): void {
  const isFirst = mkdirSync(folder, { recursive: true }) !== undefined
  console.log('still')
  if (isFirst) process.kill(process.pid, 'SIGSTOP')
}

const ready = Promise.withResolvers<void>()

const gateway = await startGateway({
  // Tests may use a shorter lease than the config allows.
  config: { ...config, leaseMs: Number(LEASE_MS) },
  log: { debug() {}, info() {}, warn() {}, error() {} },
  handlers: {
    async moody({ text, reply }) {
      if (text.startsWith('poison')) throw new Error('poison')
      if (text.startsWith('die')) {
        // Jobs left by another process may start before this one listens, so wait until the parent got
        // `ready`.
        await ready.promise
        process.kill(process.pid, 'SIGKILL')
      }
      const [, ms] = /^slow (\d+)/.exec(text) ?? []
      if (ms !== undefined) {
        console.log('slow')
        await new Promise((resolve) => setTimeout(resolve, Number(ms)))
      }
      const [, folder] = /^pause for (.+)/.exec(text) ?? []
      if (folder !== undefined) standStillFirst(folder)
      reply(`did ${text}`)
    },
  },
  async fault(point, chatId) {
    if (point === 'update.begun' && chatId !== null && logsOut.has(chatId))
      await gateway.sessions.close(chatId)
    const here = `${point} ${chatId}`
    if (!stands.has(here)) return
    missing.delete(here)
    if (missing.size === 0) process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  },
})
// For a test that hangs: lists the points that were not reached.
process.once('SIGUSR2', () => {
  console.error(`points not reached: ${[...missing].join(', ')}`)
  process.exit(1)
})
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit(0)))
console.log('ready')
ready.resolve()
