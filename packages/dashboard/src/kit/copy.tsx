/** Copies a text to the clipboard. */
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from './button.tsx'
import { say } from './toasts.tsx'

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(`Copied ${what}`)
  } catch {
    say(`The browser blocked copying ${what}. Copy it from here: ${text}`)
  }
}

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setDone] = useState(false)
  return (
    <IconButton
      label={`Copy ${what}`}
      icon={isDone ? Check : Copy}
      onClick={() => {
        void copy(text, what).then(() => setDone(true))
        setTimeout(() => setDone(false), 1_500)
      }}
    />
  )
}
