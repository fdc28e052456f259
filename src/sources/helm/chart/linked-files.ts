/** Helm reads the targets of symbolic links, and Adopt edits those. */
import { joinFolderPath, resolvePath } from '../../kustomize/files/kustomization-walk.ts'
import type { SourceFiles } from '../../kustomize/files/kustomize-build.ts'

const MOST_LINKS = 40

/** Also links in folders; undefined if one leaves the repository, or they form a circle. */
export function followLinks(path: string, files: SourceFiles): string | undefined {
  let at = ''
  let rest = path.split('/')
  let links = 0
  while (rest.length > 0) {
    const [name = '', ...after] = rest
    const link = files.get(joinFolderPath(at, name))
    rest = after
    if (link?.mode !== '120000') {
      at = joinFolderPath(at, name)
      continue
    }
    links += 1
    const target =
      links > MOST_LINKS ? undefined : resolvePath(at, new TextDecoder().decode(link.content))
    if (target === undefined) return undefined
    rest = [...target.split('/').filter((each) => each !== ''), ...rest]
    at = ''
  }
  return at
}
