import type { YamlList, YamlMap } from '../yaml-node.ts'
import type { Comments } from './read-yaml-tree-comments.ts'

export interface Properties {
  readonly anchor: string
  readonly tag: string
}

export const NO_PROPERTIES: Properties = { anchor: '', tag: '' }

export function emptyList(
  { tag, anchor }: Properties,
  comments: Comments,
  style: YamlList['style'],
): YamlList {
  return { kind: 'list', tag, anchor, ...comments, style, items: [] }
}

export function emptyMap(
  { tag, anchor }: Properties,
  comments: Comments,
  style: YamlMap['style'],
): YamlMap {
  return { kind: 'map', tag, anchor, ...comments, style, entries: [] }
}

/** An array that grew has room for 16 more. */
export function trim(node: YamlList | YamlMap): void {
  if (node.kind === 'map') node.entries = node.entries.slice()
  else node.items = node.items.slice()
}
