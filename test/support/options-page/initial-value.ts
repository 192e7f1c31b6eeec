/** Finds the default of an option in the code: the expression that replaces `undefined`. */
import {
  isBinaryExpression,
  isBindingElement,
  isConditionalExpression,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'

/** As markdown. Throws unless the file has exactly one. */
export function initialValue(source: SourceFile, option: string): string {
  const found = new Set<string>()
  const visit = (node: Node): void => {
    const value = replacementOf(node, option)
    if (value !== undefined) found.add(value.getText())
    node.forEachChild(visit)
  }
  visit(source)
  const [text, ...others] = found
  if (text === undefined || others.length > 0)
    throw new Error(
      `${source.fileName} has ${found.size} defaults for ${option} (${[...found].join(', ')}). Correct values.ts`,
    )
  if (text === '[]' || text === '{}') return 'none'
  return `\`${text.replace(/^'(.*)'$/, '$1')}\``
}

/** `{ option = value }`, `(option = value)`, `x.option ?? value`, `option: x === undefined ? value : …`. */
function replacementOf(node: Node, option: string): Node | undefined {
  if (isBindingElement(node) || isParameterDeclaration(node)) {
    const name = (isBindingElement(node) ? node.propertyName : undefined) ?? node.name
    return name?.getText() === option ? node.initializer : undefined
  }
  if (isBinaryExpression(node) && node.operatorToken.getText() === '??') {
    const { left, right } = node
    return isPropertyAccessExpression(left) && left.name.getText() === option ? right : undefined
  }
  if ((isVariableDeclaration(node) || isPropertyAssignment(node)) && node.name.getText() === option) {
    const value = node.initializer
    const isDefault =
      value !== undefined &&
      isConditionalExpression(value) &&
      value.condition.getText().endsWith('=== undefined')
    return isDefault ? value.whenTrue : undefined
  }
  return undefined
}
