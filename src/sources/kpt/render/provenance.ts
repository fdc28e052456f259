/**
 * Records which function wrote which field. The writes of a built-in function are observed,
 * including those that do not change the value. In the output of another program, every new or
 * different value counts as written.
 */
import type { PipelineStep, StepRun } from '@backporch/kpt/function'
import type { RenderWatcher } from '@backporch/kpt/render'
import {
  findEntry,
  getYamlKey,
  isTextToAll,
  resolveAlias,
  resolveGoScalar,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@backporch/kyaml/yaml'

export class ProvenanceWatcher implements RenderWatcher {
  private step = -1
  private readonly previous = new WeakMap<YamlNode, Observed>()
  private readonly below = new WeakMap<YamlNode, ReadonlyMap<string, YamlNode>>()
  /** `value` was set since then. */
  private readonly touched = new Set<YamlScalar>()
  private readonly observed = new WeakSet<YamlScalar>()

  startRun(items: readonly YamlMap[]): void {
    for (const item of items) this.remember(item)
  }

  startStep({ number }: PipelineStep): void {
    this.step = number
    this.touched.clear()
  }

  handleReplacement(from: YamlMap, to: YamlMap): void {
    this.carry(from, to)
  }

  handleMutation(_run: StepRun, items: readonly YamlMap[]): void {
    for (const item of items) this.watchNode(item)
  }

  private remember(node: YamlNode): void {
    this.previous.set(node, observeNode(node))
    if (node.kind === 'scalar') this.observe(node)
    else if (node.kind === 'list') for (const item of node.items) this.remember(item)
    else if (node.kind === 'map') {
      this.below.set(node, new Map(node.entries.map(({ key, value }) => [getYamlKey(key), value])))
      for (const { value } of node.entries) this.remember(value)
    }
  }

  /** Setting an equal value is a write too. */
  private observe(node: YamlScalar): void {
    if (this.observed.has(node)) return
    this.observed.add(node)
    let current = node.value
    Object.defineProperty(node, 'value', {
      get: () => current,
      set: (value: string) => {
        current = value
        this.touched.add(node)
      },
      enumerable: true,
      configurable: true,
    })
  }

  private watchNode(node: YamlNode): void {
    const before = this.previous.get(node)
    const isAsBefore = before !== undefined && isStill(node, before)
    if (!isAsBefore) this.previous.set(node, observeNode(node))
    if (
      !(isAsBefore || (before !== undefined && formatNodeText(before) === formatNodeText(node))) ||
      (node.kind === 'scalar' && this.touched.has(node))
    )
      this.markWritten(node)
    if (node.kind === 'scalar') this.observe(node)
    else if (node.kind === 'list') for (const item of node.items) this.watchNode(item)
    else if (node.kind === 'map') {
      const earlier = this.below.get(node)
      let isAsEarlier = earlier?.size === node.entries.length
      for (const { key, value } of node.entries) {
        const replaced = earlier?.get(getYamlKey(key))
        if (replaced !== value) isAsEarlier = false
        if (replaced !== undefined && replaced !== value && !this.previous.has(value))
          inherit(replaced, value)
        this.watchNode(value)
      }
      if (!isAsEarlier)
        this.below.set(
          node,
          new Map(node.entries.map(({ key, value }) => [getYamlKey(key), value])),
        )
    }
  }

  private markWritten(node: YamlNode): void {
    if (node.writes?.at(-1) !== this.step) node.writes = [...(node.writes ?? []), this.step]
  }

  /** Nodes at the same path are the same node, although a function returned another tree. */
  private carry(from: YamlNode, to: YamlNode): void {
    if (from.kind !== to.kind) return
    inherit(from, to)
    const before = this.previous.get(from)
    if (before !== undefined) this.previous.set(to, before)
    if (from.kind === 'scalar' && to.kind === 'scalar' && this.touched.has(from))
      this.touched.add(to)
    if (from.kind === 'map' && to.kind === 'map')
      for (const { key, value } of to.entries) {
        const earlier = findEntry(from, getYamlKey(key))
        if (earlier !== undefined) this.carry(earlier.value, value)
      }
    else if (from.kind === 'list' && to.kind === 'list')
      for (const [index, item] of to.items.entries()) {
        const earlier = findSameItem(from.items, item, index)
        if (earlier !== undefined) this.carry(earlier, item)
      }
  }
}

function inherit(from: YamlNode, to: YamlNode): void {
  to.source = from.source
  to.writes = from.writes
}

type Observed =
  | Pick<YamlScalar, 'kind' | 'value' | 'style' | 'tag'>
  | Pick<Exclude<YamlNode, YamlScalar>, 'kind'>

const SEEN_MAP: Observed = { kind: 'map' }
const SEEN_LIST: Observed = { kind: 'list' }
const SEEN_ALIAS: Observed = { kind: 'alias' }

function observeNode(node: YamlNode): Observed {
  if (node.kind === 'scalar')
    return { kind: 'scalar', value: node.value, style: node.style, tag: node.tag }
  return node.kind === 'map' ? SEEN_MAP : node.kind === 'list' ? SEEN_LIST : SEEN_ALIAS
}

function isStill(node: YamlNode, before: Observed): boolean {
  if (node.kind !== 'scalar' || before.kind !== 'scalar') return node.kind === before.kind
  return node.value === before.value && node.style === before.style && node.tag === before.tag
}

/** A change of style, comment or number format is no write. */
function formatNodeText(node: Observed): string {
  if (node.kind !== 'scalar') return node.kind
  const isText = node.style !== 'plain' || node.tag === '!!str' || isTextToAll(node.value)
  const read = isText ? undefined : resolveGoScalar(node.value, true)
  const value = read?.is === 'value' && typeof read.value !== 'boolean' ? read.value : node.value
  return `${isText ? 't' : 'p'}${value}`
}

const ITEM_KEYS = [
  'name',
  'key',
  'containerPort',
  'port',
  'mountPath',
  'ip',
  'type',
  'topologyKey',
  'devicePath',
]

function findSameItem(
  items: readonly YamlNode[],
  item: YamlNode,
  index: number,
): YamlNode | undefined {
  const target = resolveAlias(item)
  if (target.kind !== 'map') return items[index]
  for (const key of ITEM_KEYS) {
    const value = findScalarAt(target, key)
    if (value === undefined) continue
    const same = items.filter((other) => findScalarAt(other, key) === value)
    if (same.length === 1) return same[0]
  }
  return items[index]
}

function findScalarAt(node: YamlNode, key: string): string | undefined {
  const value = findEntry(node, key)?.value
  return value?.kind === 'scalar' ? value.value : undefined
}
