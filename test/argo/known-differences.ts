/** What Backporch makes otherwise of a case than Argo CD, on purpose, and why. */
import type { Group } from './cases/all-cases.ts'

export interface KnownDifference {
  /** `refused`: Argo CD builds it, and Backporch reports nothing about it but why; `built`: Argo CD has an error. */
  readonly ours: 'refused' | 'built' | 'different'
  readonly why: string
  readonly cases: readonly string[]
}

/** A folder without an object is no unit: Argo CD applies nothing of it. */
export const EMPTY = /^there is no object in /

export const KNOWN_DIFFERENCES: { readonly [name in Group]?: readonly KnownDifference[] } = {
  directory: [
    {
      ours: 'refused',
      why: 'two files of a folder declare one object: Argo CD warns, and applies the last one',
      cases: [
        'an object twice in one file',
        'an object in two files, the later one counts',
        'an object in a file and in a folder',
        'the order of files and folders',
      ],
    },
    {
      ours: 'refused',
      why: 'the library of Argo CD reads these braces otherwise than they look (src/sources/argo-cd/go-glob.ts)',
      cases: [
        'exclude with braces in braces',
        'exclude with braces of other lengths and a text behind them',
        'include with an empty choice',
      ],
    },
    {
      ours: 'refused',
      why: 'jsonnet is not evaluated',
      cases: ['jsonnet', 'jsonnet that is skipped by its mark'],
    },
    {
      ours: 'refused',
      why: 'links are not followed',
      cases: [
        'a link to a file of the folder',
        'a link to a file of another folder',
        'a link to nothing',
        'a link to a folder',
        'a link to a link',
        'a path that is a link to a folder',
        'a link as an override',
      ],
    },
    {
      ours: 'refused',
      why: 'no object of a cluster, which Argo CD finds out when it applies it; it takes a namespace that is no text for none',
      cases: [
        'an object without apiVersion',
        'an object without a name',
        'a List without items',
        'a namespace that is a number',
        'other YAML and something that looks like a manifest without metadata',
      ],
    },
    {
      ours: 'refused',
      why: 'the server names the object, and each sync makes another one',
      cases: ['an object with generateName'],
    },
    {
      ours: 'refused',
      why: 'Argo CD reads YAML from object to object of JSON, and takes any object with items for a list',
      cases: [
        'two objects of JSON in a file of YAML',
        'a List in a List',
        'an object with items that is no list',
      ],
    },
    {
      ours: 'refused',
      why: 'an override makes the folder a source of another tool, or has other letters than the field',
      cases: [
        'an override in other letters',
        'an override that makes a kustomization a directory',
        'an override that makes a kustomization a directory of one file',
      ],
    },
    {
      ours: 'built',
      why: 'Argo CD does not know the kind of an item of a list of a kind, and kubectl does',
      cases: ['a list of a kind', 'a list without a kind in its items'],
    },
    {
      ours: 'different',
      why: 'without a namespace in the destination, the one of the context counts',
      cases: ['no namespace in the destination'],
    },
    {
      ours: 'different',
      why: 'of one object in two sources, or with and without its namespace, Argo CD applies the last; each is compared here',
      cases: [
        'one object with the namespace of the destination, and without',
        'two sources with one object',
        'options in one of two sources',
      ],
    },
    {
      ours: 'different',
      why: 'objects with config.kubernetes.io/local-config, and those of kpt, are not compared',
      cases: ['objects that are for tools only'],
    },
  ],
  kustomize: [
    {
      ours: 'refused',
      why: 'kustomize prints its help for such an image, and Argo CD goes on',
      cases: ['an image that looks like a flag'],
    },
    {
      ours: 'built',
      why: 'kubeVersion is not read where there is no chart',
      cases: ['a kubeVersion that is none'],
    },
    {
      ours: 'different',
      why: 'without a namespace in the destination, the one of the context counts',
      cases: ['a kustomization in the namespace of nothing'],
    },
  ],
}
