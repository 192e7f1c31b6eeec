/** The config that a command was given, or every reason why it cannot be used. */
import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { GatewayConfig, Problem } from '../config/config.ts'
import { configText, readConfig } from '../config/read-config.ts'

const CONFIG_OPTION = { config: { type: 'string', short: 'c' } } as const

/** Null after the problems were printed. */
export function configFor(file: string | undefined): GatewayConfig | null {
  let source: { readonly yaml: string; readonly name: string }
  try {
    source = configText(file, process.env)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    console.error(
      `error   the config cannot be read: ${why}\n        Name it with --config, or write telegram.yaml here`,
    )
    return null
  }
  const { config, problems } = readConfig({ ...source, env: process.env })
  for (const problem of problems) console.error(problemText(problem))
  return config
}

function problemText({ level, place, problem, fix }: Problem): string {
  return `${level.padEnd(7)} ${place}: ${problem}\n        ${fix}`
}

/** Flags that are not known are refused by `parseArgs` itself. */
export function flags<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  return parseArgs({
    args: [...args],
    options: { ...CONFIG_OPTION, ...options },
    allowPositionals: true,
    strict: true,
  })
}
