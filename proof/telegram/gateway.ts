/** The gateway under load in a child process, with a bot whose handler fails at times. */
import { createHash } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'
import { readConfig, startGateway } from 'jobmill-telegram'

const { YAML = '', FAILS_PERCENT = '5', RUNS = '' } = process.env
const { config, problems } = readConfig({ yaml: YAML, env: process.env, handlers: ['moody'] })
if (config === null) throw new Error(JSON.stringify(problems, null, 2))

/** Deterministic: the same update fails at the same attempts in every process. */
function fails(key: string, attempt: number): boolean {
  return (
    (createHash('sha256').update(`${key} ${attempt}`).digest()[0] ?? 0) < (256 * Number(FAILS_PERCENT)) / 100
  )
}

/** One line per run, written synchronously, so that it survives a kill right after it. */
const runs = openSync(RUNS, 'a')

const gateway = await startGateway({
  config,
  log: { least: 'error', debug() {}, info() {}, warn() {}, error() {} },
  handlers: {
    moody({ text, key, attempt, chatId, reply }) {
      const hasFailed = fails(key, attempt)
      writeSync(runs, `${chatId} ${text} ${hasFailed ? 'failed' : 'did'}\n`)
      if (hasFailed) throw new Error('not this time')
      reply(`did ${text}`)
    },
  },
})
// Raise the limits, because a benchmark would otherwise measure only them.
await gateway.mill?.limits.change('telegram-bot', { rate: 10_000, burst: 10_000 })
await gateway.mill?.limits.change('telegram-chat', { rate: 100, burst: 100 })
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit(0)))
console.log('ready')
