/** What a program gives a gateway that is started in it. */
import { checkObjectKeys, JobmillError, type LogOption, type Platform } from 'jobmill'
import type { ServeOptions } from 'jobmill/http'
import type { GatewayConfig } from './config/config.ts'
import type { Handler } from './handlers/handler.ts'
import type { Fault } from './work/fault.ts'

export interface GatewayOptions {
  readonly config: GatewayConfig
  /** Handlers of your own, which a bot names in the config. */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** Who may look at Mission Control, as for `serve` of jobmill/http. */
  readonly admin?: Pick<ServeOptions, 'tokens' | 'authenticate' | 'insecure'>
  /** As `log` of `jobmill()` (default none). */
  readonly log?: LogOption
  /** For tests. */
  readonly fault?: Fault
  readonly random?: () => number
  /** The clock of the process is in it; that of the database is the database's. */
  readonly platform?: Platform
  /** How long the handler of a synchronous bot may take (default 30 s). */
  readonly handlerMs?: number
}

const KEYS: Readonly<Record<keyof GatewayOptions, true>> = {
  config: true,
  handlers: true,
  admin: true,
  log: true,
  fault: true,
  random: true,
  platform: true,
  handlerMs: true,
}
/** What the gateway reads of its config before anything else. */
const CONFIG_KEYS = ['bots', 'listen', 'retention', 'apiRoot'] as const satisfies (keyof GatewayConfig)[]

/** Names the option that is missing, misspelled, or not what `readConfig` returns. */
export function checkOptions(options: GatewayOptions): void {
  checkObjectKeys(options, 'options', Object.keys(KEYS))
  const config: unknown = options.config
  const missing =
    typeof config === 'object' && config !== null ? CONFIG_KEYS.filter((key) => !(key in config)) : null
  if (missing?.length === 0) return
  const what =
    config === undefined
      ? 'is missing'
      : missing === null
        ? 'is not an object'
        : `has no ${missing.join(', ')}`
  throw new JobmillError('OPTION_INVALID', what, {
    field: 'config',
    fix: 'Pass the config of readConfig({ yaml, env }), after a look at its problems',
  })
}
