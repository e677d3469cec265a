/**
 * Which bound or rule of the protection against a hostile web something ran into; counted under
 * `downloader/protection/<reason>`. Each is explained, with its setting, in docs/hostile-web.md.
 */
export type ProtectionReason =
  // Nothing is sent: the address is no public one.
  | 'metadata_address'
  | 'loopback_address'
  | 'private_address'
  | 'link_local_address'
  | 'shared_address'
  | 'multicast_address'
  | 'unspecified_address'
  | 'reserved_address'
  // Nothing is read: a file of this machine that FILE_URLS_ALLOWED does not name.
  | 'file_url'
  // The download ends.
  | 'deadline'
  | 'slow_headers'
  | 'slow_body'
  | 'body_size'
  | 'header_size'
  | 'header_count'
  | 'interim_answers'
  | 'data_loss'
  | 'bad_http'
  | 'bad_tls'
  | 'bad_certificate'
  // Its answer is dropped.
  | 'decompressed_size'
  | 'decompression_ratio'
  | 'encoding_chain'
  | 'bad_encoding'
  | 'location_length'
  // Its answer reaches the callback, but not all of it is looked at.
  | 'binary_page'
  | 'page_nodes'
  | 'page_links'

/** The counter of a reason. */
export function protectionStat(reason: ProtectionReason): string {
  return `downloader/protection/${reason}`
}
