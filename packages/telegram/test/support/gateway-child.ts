/**
 * A gateway in a process of its own. `STANDS` names points and chats: who comes by there stands still between two steps, and when all of them do, the process
 * is killed, so that one death is a death at every one of these points. Says `ready` when it listens.
 */
import { mkdirSync } from 'node:fs'
import { readConfig, startGateway } from 'jobmill-telegram'

const { YAML = '', LEASE_MS = '60000', STANDS = '[]', LOGS_OUT = '[]' } = process.env
const { config, problems } = readConfig({ yaml: YAML, env: process.env, handlers: ['moody'] })
if (config === null) throw new Error(JSON.stringify(problems))
const missing = new Set(JSON.parse(STANDS) as string[])
const stands = new Set(missing)
/** People whose session is over as soon as their job begins. */
const logsOut = new Set(JSON.parse(LOGS_OUT) as number[])

/** Who comes first stands still, here and now: between two steps, so without a lock on the database that others would wait for. */
function standStillFirst(folder: string): void {
  const isFirst = mkdirSync(folder, { recursive: true }) !== undefined
  console.log('still')
  if (isFirst) process.kill(process.pid, 'SIGSTOP')
}

const ready = Promise.withResolvers<void>()

const gateway = await startGateway({
  // As a test needs it, which may be shorter than people may set.
  config: { ...config, leaseMs: Number(LEASE_MS) },
  log: { debug() {}, info() {}, warn() {}, error() {} },
  handlers: {
    async moody({ text, reply }) {
      if (text.startsWith('poison')) throw new Error('poison')
      if (text.startsWith('die')) {
        // Whoever started it has to have heard of it: what others left begins before it listens.
        await ready.promise
        process.kill(process.pid, 'SIGKILL')
      }
      const [, ms] = /^slow (\d+)/.exec(text) ?? []
      if (ms !== undefined) {
        console.log('slow')
        await new Promise((resolve) => setTimeout(resolve, Number(ms)))
      }
      const [, folder] = /^stand still (.+)/.exec(text) ?? []
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
// Of a test that waits for ever: where nobody came by.
process.once('SIGUSR2', () => {
  console.error(`nobody came by ${[...missing].join(', ')}`)
  process.exit(1)
})
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit(0)))
console.log('ready')
ready.resolve()
