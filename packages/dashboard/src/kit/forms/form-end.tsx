/** The footer of a form in a drawer: problems of the whole form and the buttons, always visible. */
import type { ReactNode } from 'react'

interface Props {
  readonly error: string | undefined
  readonly children: ReactNode
}

export function FormEnd({ error, children }: Props) {
  return (
    <div className="sticky -bottom-4 z-10 -mx-4 mt-auto -mb-4 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-card px-4 py-3">
      {error !== undefined && (
        <p role="alert" className="min-w-0 grow basis-60 break-words text-dead">
          {error}
        </p>
      )}
      {children}
    </div>
  )
}
