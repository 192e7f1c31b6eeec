/** The shape of an error: its words, and in place of what varies what it is. */
import { shapeParts } from './shape-parts.ts'

export function ShapeText({ shape }: { readonly shape: string }) {
  const parts = shapeParts(shape)
  if (parts.length === 0) return <span className="text-soft italic">an error without a text</span>
  return (
    <>
      {parts.map(({ text, varies }, at) =>
        varies ? (
          <span
            // oxlint-disable-next-line react/no-array-index-key
            key={at}
            className="rounded bg-sunk px-1 py-px text-xs font-normal text-soft ring-1 ring-line ring-inset"
          >
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </>
  )
}
