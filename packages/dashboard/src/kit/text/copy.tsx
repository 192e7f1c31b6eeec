/** Copies a text to the clipboard. */
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../button.tsx'
import { say } from '../overlays/toasts.tsx'

/** Resolves to false if the browser refused. */
export async function copy(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    say(`Copied ${what}`)
    return true
  } catch {
    say(`The browser blocked copying ${what}. Copy it from here: ${text}`)
    return false
  }
}

interface Props {
  readonly text: string
  readonly what: string
  readonly className?: string
}

export function CopyButton({ text, what, className }: Props) {
  const [isDone, setDone] = useState(false)
  return (
    <IconButton
      label={`Copy ${what}`}
      icon={isDone ? Check : Copy}
      className={className}
      onClick={() => {
        void copy(text, what).then((isCopied) => {
          setDone(isCopied)
          setTimeout(() => setDone(false), 1_500)
        })
      }}
    />
  )
}
