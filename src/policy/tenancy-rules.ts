/** See docs/adr/0041-what-a-package-covers.md. */
export const TENANCY_RULES = {
  'TEN-UNBOUND':
    'placements of the cluster restrict what packages may be compared with, and none of them names this package',
  'TEN-NAMESPACE': 'the placement of the package does not allow the namespace',
  'TEN-CLUSTER-SCOPED': 'the placement of the package does not allow this kind without a namespace',
  'TEN-OTHER-SYNCER':
    'the marks of the object name a syncer or an inventory that applied no content of the package',
  'TEN-NOT-APPLIED':
    'no live object shows that the syncer of the package applied it, or anything else in its namespace',
  'TEN-INVENTORY': 'no live object shows that the inventory is the one of the package',
} as const

export type TenancyRule = keyof typeof TENANCY_RULES
