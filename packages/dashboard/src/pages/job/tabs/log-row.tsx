/** One log line. Its fields follow the message; multi-line fields, such as a stack, are collapsed. */
import type { LogLine } from '../../../api/types.ts'
import { classes } from '../../../kit/classes.ts'
import { instant } from '../../../kit/text/format.ts'
import type { Level } from './log-lines.ts'

const COLOURS: Readonly<Record<Level, string>> = {
  debug: 'text-soft',
  info: 'text-running',
  warn: 'text-ready',
  error: 'text-dead',
}

interface Props {
  readonly n: number
  readonly line: LogLine
  /** Whether this is the first line of its attempt. */
  readonly isFirst: boolean
}

export function LogRow({ n, line: { at, level, message, fields = {} }, isFirst }: Props) {
  const all = Object.entries(fields)
  const long = all.filter(([, value]) => isLong(value))
  const short = all.filter(([, value]) => !isLong(value))
  return (
    <>
      {isFirst && (
        <p className="mt-1 border-t border-line px-1 pt-1 font-sans text-soft first:mt-0 first:border-0">
          Attempt #{n}
        </p>
      )}
      <div className="grid grid-cols-[max-content_3rem_1fr] gap-x-3 px-1">
        <time dateTime={new Date(at).toISOString()} title={instant(at)} className="text-soft tabular-nums">
          {clock(at)}
        </time>
        <span className={COLOURS[level]}>{level}</span>
        <div className={classes('min-w-0 break-words whitespace-pre-wrap', level === 'error' && 'text-dead')}>
          {message}
          {short.map(([key, value]) => (
            <span key={key} className="text-soft">{` ${key}=${textOf(value)}`}</span>
          ))}
          {long.map(([key, value]) => (
            <details key={key} className="text-soft">
              <summary>{key}</summary>
              <pre className="overflow-x-auto whitespace-pre">{textOf(value)}</pre>
            </details>
          ))}
        </div>
      </div>
    </>
  )
}

const LONG = 200

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function isLong(value: unknown): boolean {
  const text = textOf(value)
  return text.length > LONG || text.includes('\n')
}

/** 02:11:58.123: log lines need milliseconds. */
function clock(at: number): string {
  const time = new Date(at)
  return `${time.toLocaleTimeString('en-GB')}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
