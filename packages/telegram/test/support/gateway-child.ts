/**
 * A gateway in a process of its own, which ends itself at the point that it is told, once it was told by SIGUSR2 that this is the time. Says `ready` when it
 * listens, and `armed` when it was told.
 */
import { readConfig, startGateway } from 'jobmill-telegram'

const { YAML = '', FAULT = '', LEASE_MS = '1500' } = process.env
const { config, problems } = readConfig({ yaml: YAML, env: process.env, handlers: ['moody'] })
if (config === null) throw new Error(JSON.stringify(problems))
let isArmed = false
const gateway = await startGateway({
  // So that a test need not wait as long as people do.
  config: { ...config, leaseMs: Number(LEASE_MS) },
  log: { debug() {}, info() {}, warn() {}, error() {} },
  handlers: {
    async moody({ text, reply }) {
      if (text.startsWith('poison')) throw new Error('poison')
      if (text.startsWith('die')) process.kill(process.pid, 'SIGKILL')
      const [, ms] = /^slow (\d+)/.exec(text) ?? []
      if (ms !== undefined) {
        console.log('slow')
        await new Promise((resolve) => setTimeout(resolve, Number(ms)))
      }
      reply(`did ${text}`)
    },
  },
  fault(point) {
    if (isArmed && point === FAULT) process.kill(process.pid, 'SIGKILL')
  },
})
process.on('SIGUSR2', () => {
  isArmed = true
  console.log('armed')
})
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit(0)))
console.log('ready')
