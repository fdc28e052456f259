/** Where a value of a kustomization is authored, and what Adopt writes: the table of src/sources/kustomize/README.md, which a test makes. */

/** Changed files, or the place in git and why nothing is written. */
export type OriginOutcome = readonly string[] | { readonly where: string; readonly why: string }

const VARIABLE_FILE = 'clusters/prod/prod.yaml'

export const VALUE_ORIGINS = {
  'a manifest': ['base/config.yaml'],
  'a manifest that another overlay reads too': [
    'prod/configmap-web-patch.yaml',
    'prod/kustomization.yaml',
  ],
  'a manifest that a program writes (`DO NOT EDIT`)': [
    'prod/configmap-web-patch.yaml',
    'prod/kustomization.yaml',
  ],
  'a manifest that a program writes, below the folder of the Kustomization': [
    'prod/system/configmap-web-patch.yaml',
    'prod/system/kustomization.yaml',
  ],
  'a component that another overlay has too': [
    'prod/configmap-web-patch.yaml',
    'prod/kustomization.yaml',
  ],
  'a patch': ['prod/size.yaml'],
  'a patch, after another one of the field': ['prod/last.yaml'],
  '`configMapGenerator`, with the hash in the name': {
    where: 'prod/kustomization.yaml:3',
    why: 'the function configMapGenerator makes the object, and no file declares it',
  },
  '`configMapGenerator`, without the hash': ['prod/kustomization.yaml'],
  '`replacements`': {
    where: 'prod/kustomization.yaml:4',
    why: 'no authored place was found whose edit gives the live value; the replacement copies data.size of ConfigMap settings, and may write the field',
  },
  '`postBuild.substitute`': [VARIABLE_FILE],
  'a ConfigMap of `substituteFrom` in the repository': ['clusters/prod/settings.yaml'],
  'a ConfigMap of `substituteFrom` that another Kustomization reads too': [VARIABLE_FILE],
  'a ConfigMap of `substituteFrom` that no file declares': ['prod/config.yaml'],
  'a Secret of `substituteFrom`': {
    where: 'prod/config.yaml:1',
    why: 'the value is a credential, and a credential in git is readable by everybody who can read the repository',
  },
} as const satisfies { readonly [name: string]: OriginOutcome }
