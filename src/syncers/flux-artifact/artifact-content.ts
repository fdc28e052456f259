export interface ArtifactContent {
  /** `spec.ignore`, in addition to `.sourceignore` files. */
  readonly ignore: string | undefined
  /** `spec.sparseCheckout`; empty: all files. */
  readonly sparse: readonly string[]
  /** `spec.include`; paths are from the root of the artifact. */
  readonly included: readonly { readonly path: string; readonly title: string }[]
}

/** As source-controller `docs/spec/v1/gitrepositories.md`. */
import {
  filterObjects,
  filterTexts,
  getPartAt,
  getTextAt,
  type JsonObject,
} from '@backporch/kyaml/json'

export function getArtifactContent(source: JsonObject | undefined): ArtifactContent {
  const included = filterObjects(getPartAt(source, 'spec', 'include')).map((each) => {
    const name = getTextAt(each, 'repository', 'name')
    return {
      path: resolveInRoot(getTextAt(each, 'toPath') || name),
      title: `GitRepository ${name}`,
    }
  })
  const sparse = filterTexts(getPartAt(source, 'spec', 'sparseCheckout')).map((path) =>
    path.replace(/^\.\//, ''),
  )
  return { ignore: getTextAt(source, 'spec', 'ignore') || undefined, sparse, included }
}

/** No `..` leaves the root of the artifact. */
function resolveInRoot(path: string): string {
  const segments: string[] = []
  for (const each of path.split('/'))
    if (each === '..') segments.pop()
    else if (each !== '' && each !== '.') segments.push(each)
  return segments.join('/')
}
