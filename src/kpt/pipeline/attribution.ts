/**
 * kpt records its commands on Config Connector objects (kpt
 * `internal/util/attribution/attribution.go`, as of 1.0.0-beta.56; docs/facts/kpt-render.md).
 */
import { findNodeAt, findTextAt, type YamlMap } from '@backporch/kyaml/yaml'
import { setAnnotation } from '../function/item-annotations.ts'

export const ATTRIBUTION = 'cnrm.cloud.google.com/blueprint'

/** API group or version. */
export function isAttributed(api: string): boolean {
  return api.includes('.cnrm.')
}

export function attributeRender(items: readonly YamlMap[]): void {
  for (const item of items) {
    if (!isAttributed(findTextAt(item, 'apiVersion') ?? '')) continue
    const present = findNodeAt(item, 'metadata', 'annotations', ATTRIBUTION)
    // A null counts by its text: `~` becomes `~,kpt-fn`.
    setAnnotation(
      item,
      ATTRIBUTION,
      addRenderCommand(present?.kind === 'scalar' ? present.value : ''),
    )
  }
}

/**
 * `cnrm/x/v1,kpt-pkg` becomes `cnrm/x/v1,kpt-pkg-fn`. A second part that contains `kpt` repeats the
 * first one's commands.
 */
function addRenderCommand(value: string): string {
  if (value === '') return 'kpt-fn'
  if (!value.includes('kpt-')) return `${value},kpt-fn`
  const commands = ['kpt']
  const parts = value.split(',').map((part) => {
    if (!part.includes('kpt')) return part
    commands.push(
      ...['pkg', 'fn', 'live'].filter((command) => command === 'fn' || part.includes(command)),
    )
    return commands.join('-')
  })
  return parts.join(',')
}

/** From 1.0.0-beta.59 on kpt calls itself `krm` there. */
export function removeLiveCommands(value: string): string {
  return value
    .split(',')
    .filter((part) => !/^k(pt|rm)(-(pkg|fn|live))+$/.test(part))
    .join(',')
}
