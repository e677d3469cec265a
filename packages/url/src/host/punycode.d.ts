// What is used of the library, which has no types. Its bare name would be Node's own module, which is deprecated.
declare module 'punycode/punycode.js' {
  const punycode: {
    /** Punycode (RFC 3492) of one host label, without the `xn--`. */
    encode(label: string): string
  }
  export default punycode
}
