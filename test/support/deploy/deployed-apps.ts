// The programs that have an image, with the ports and timeouts of their code that the deployment files must
// match.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COMMANDS as GATEWAY_COMMANDS, run as runGateway } from '../../../packages/telegram/src/cli/run.ts'
import { readConfig } from '../../../packages/telegram/src/config/read-config.ts'
import { COMMANDS as INBOX_COMMANDS } from '../../../packages/uploads/src/cli/run.ts'
import { run as runInbox } from '../../../packages/uploads/src/cli/run.ts'
import { DEFAULT_ADMIN_PORT, DEFAULT_PORT } from '../../../packages/uploads/src/cli/look.ts'
import { GRACE_MS } from '../../../packages/uploads/src/uploads.ts'
import { DEFAULTS } from '../../../packages/jobmill/src/job/defaults.ts'
import { labelFrom } from '../../../packages/jobmill/src/runtime/options/label.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The variables that operators must set, with values that the programs accept. */
export const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: '0123456789abcdef',
  JOBMILL_TOKENS: 'me admin 0123456789abcdef',
  PUBLIC_URL: 'https://tg.example.org',
  BOT_PARROT_TOKEN: '123456:0123456789abcdef',
  BOT_PARROT_SECRET: '0123456789abcdef0123456789abcdef',
}

interface App {
  /** The target of the Dockerfile, and the folder and the name of its package. */
  readonly target: 'jobmill' | 'gateway' | 'inbox'
  readonly folder: string
  readonly program: string
  /** The first is public, the second is for Mission Control. */
  readonly ports: readonly number[]
  /** The longest duration of a stop. */
  readonly stopS: number
  readonly main: string
}

const mainOf = (folder: string): string => join(root, `packages/${folder}/src/cli/main.ts`)
const ROOM_S = 5
const graceS = DEFAULTS.graceMs / 1_000

export const RUNTIME: App = {
  target: 'jobmill',
  folder: 'jobmill',
  program: 'jobmill',
  ports: [8787],
  stopS: graceS + ROOM_S,
  main: mainOf('jobmill'),
}

interface PublicApp extends App {
  readonly run: typeof runInbox
  /** The arguments of each of its commands. */
  readonly commands: readonly string[]
}

export const PUBLIC_APPS: readonly PublicApp[] = [
  {
    target: 'gateway',
    folder: 'telegram',
    program: 'jobmill-telegram',
    ports: gatewayPorts(),
    stopS: graceS + ROOM_S,
    main: mainOf('telegram'),
    run: runGateway,
    commands: GATEWAY_COMMANDS.map(({ words }) => words),
  },
  {
    target: 'inbox',
    folder: 'uploads',
    program: 'jobmill-uploads',
    ports: [DEFAULT_PORT, DEFAULT_ADMIN_PORT],
    stopS: Math.max(graceS, GRACE_MS / 1_000) + ROOM_S,
    main: mainOf('uploads'),
    run: runInbox,
    commands: INBOX_COMMANDS.map(({ words }) => words),
  },
]

function gatewayPorts(): number[] {
  const yaml = 'bots: { parrot: { handler: echo, requireAuth: false } }'
  const { config, problems } = readConfig({ yaml, env: SECRETS })
  if (config === null) throw new Error(JSON.stringify(problems))
  return [config.listen, config.admin].flatMap((address) => (address === null ? [] : [address.port]))
}

interface Checked {
  readonly code: number
  readonly err: string
  /** Variables of `env` that neither the program nor the library has read. */
  readonly unread: readonly string[]
}

/** Runs `check` of a program in this process, with only the given environment. */
export async function check(app: PublicApp, env: Readonly<Record<string, string>>): Promise<Checked> {
  const asked = new Set<string>()
  const watched = new Proxy(env, {
    get(target, name: string) {
      asked.add(name)
      return target[name]
    },
  })
  let err = ''
  const code = await app.run(['check'], {
    out: () => {},
    err: (line) => void (err += `${line}\n`),
    env: watched,
  })
  labelFrom(watched, 'instance')
  return { code, err, unread: Object.keys(env).filter((name) => !asked.has(name)) }
}
