/** The name of a kind, as a link to its page. */
import { TextLink } from './button.tsx'
import { classes } from './classes.ts'

export function KindLink({ kind, className }: { readonly kind: string; readonly className?: string }) {
  return (
    <TextLink to={`/kinds/${encodeURIComponent(kind)}`} className={classes('wrap-anywhere', className)}>
      {kind}
    </TextLink>
  )
}
