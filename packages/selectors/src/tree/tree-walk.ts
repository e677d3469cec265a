import type { AnyNode } from 'domhandler'

/** Returns the node after `node` in document order, not leaving `root`. Without recursion or a stack. */
export function followingIn(root: AnyNode, node: AnyNode): AnyNode | null {
  return 'children' in node && node.children.length > 0 ? node.children[0]! : followingBeyond(root, node)
}

/** Returns the same, passing over what is below `node`. */
export function followingBeyond(root: AnyNode, node: AnyNode): AnyNode | null {
  for (let up: AnyNode | null = node; up && up !== root; up = up.parent) if (up.next) return up.next
  return null
}
