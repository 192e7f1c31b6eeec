/** The shape of an error: its constant text, with placeholders for the variable parts. */
import { shapeParts } from './shape-parts.ts'

export function ShapeText({ shape }: { readonly shape: string }) {
  const parts = shapeParts(shape)
  if (parts.length === 0) return <span className="text-soft italic">error without a message</span>
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
