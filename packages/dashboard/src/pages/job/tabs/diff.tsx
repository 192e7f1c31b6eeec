/** Line diff with signs, not by color alone. */
import { classes } from '../../../kit/classes.ts'
import { lineDiff } from './line-diff.ts'

interface Props {
  readonly title: string
  readonly none: string
  /** The two texts. */
  readonly sides: readonly (readonly string[])[]
}

const LOOKS = { ' ': '', '-': 'bg-dead-soft', '+': 'bg-accent-soft' } as const
const READ = { ' ': 'both', '-': 'first only', '+': 'second only' } as const

export function Diff({ title, none, sides: [before = [], after = []] }: Props) {
  const lines = lineDiff(before, after)
  const isSame = lines.every(({ sign }) => sign === ' ')
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold">
        {title}
        {lines.length > 0 && (
          <span className="font-normal text-soft">{isSame ? ' (identical)' : ' (different)'}</span>
        )}
      </h3>
      {lines.length === 0 ? (
        <p className="text-soft">{none}</p>
      ) : (
        <ol
          aria-label={`${title} diff`}
          className="max-h-96 overflow-auto rounded-lg bg-sunk py-2 font-mono text-xs leading-5"
        >
          {lines.map(({ sign, text }, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines repeat
            <li key={at} className={classes('flex gap-2 px-3', LOOKS[sign])}>
              <span className="w-2 shrink-0">
                <span aria-hidden>{sign}</span>
                <span className="sr-only">{READ[sign]}: </span>
              </span>
              <span className="min-w-0 break-words whitespace-pre-wrap">{text}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}
