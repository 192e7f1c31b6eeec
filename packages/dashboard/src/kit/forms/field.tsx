/** Form fields with a label, an optional hint and an error message. */
import {
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  useId,
} from 'react'
import { classes } from '../classes.ts'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly children: (ids: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ReactNode
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const about = `${id}-about`
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': about, 'aria-invalid': error !== undefined })}
      <p id={about} className={classes('text-xs', error === undefined ? 'text-soft' : 'text-dead')}>
        {error ?? hint}
      </p>
    </div>
  )
}

const BOX = 'min-w-0 rounded-md border border-line bg-card px-2 aria-invalid:border-dead disabled:opacity-60'

export function TextInput({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return (
    <input
      type="text"
      autoComplete="off"
      spellCheck={false}
      className={classes(BOX, 'h-8', className)}
      {...rest}
    />
  )
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={classes(BOX, 'h-8', className)} {...rest} />
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea spellCheck={false} className={classes(BOX, 'py-1.5 font-mono text-xs', className)} {...rest} />
  )
}

export function Check({
  label,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { readonly label: string }) {
  return (
    <label className="inline-flex items-center gap-2">
      <input type="checkbox" className="size-4 accent-accent" {...rest} />
      {label}
    </label>
  )
}
