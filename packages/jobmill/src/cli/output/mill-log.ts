/** Chooses the log format of a mill: text on a terminal, JSON elsewhere, or what the config sets. */
import type { LogLevel } from '../../job/context.ts'
import { LEVELS } from '../../observe/log/logger.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import type { ParsedArguments, Option } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'

export const LOG_OPTIONS: Readonly<Record<string, Option>> = {
  log: { takes: 'text|json', says: 'log format (default: text on a terminal, JSON elsewhere)' },
  level: { takes: 'LEVEL', says: 'log level: debug, info, warn or error (default info)' },
}

/** The `log` option of a mill. The config wins over the default; command-line options win over the config. */
export async function logFor(
  parsed: ParsedArguments,
  config: MillOptions,
): Promise<NonNullable<MillOptions['log']>> {
  const how = parsed.text('log')
  const level = parsed.text('level')
  if (how !== undefined && how !== 'text' && how !== 'json')
    throw invalid('--log', 'is not a log format', 'Pass text or json', how)
  if (level !== undefined && !LEVELS.some((one) => one === level))
    throw invalid('--level', 'is not a log level', `Use one of ${LEVELS.join(', ')}`, level)
  if (config.log !== undefined && how === undefined && level === undefined) return config.log
  const least = (level ?? 'info') as LogLevel
  const isText = how === undefined ? process.stderr.isTTY : how === 'text'
  if (isText) return least
  const { jsonLogger } = await import('./json-log.ts')
  return jsonLogger(least)
}
